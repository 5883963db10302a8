// A part of a JWT: a value as JSON, in base64url.

export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
