// The service's own public keys as receivers get them: as a JWK (RFC 8037) and as `whpk_…`, the form of Standard
// Webhooks. They are the same 32 bytes.

const PREFIX = 'whpk_'
const KEY_BYTES = 32

/** The `whpk_…` form of `x`, the member of an OKP key that is its public part. */
export function toWhpk(x: string): string {
  return PREFIX + Buffer.from(x, 'base64url').toString('base64')
}

/** `x` of a `whpk_…`; null for what is not one. */
export function fromWhpk(text: string): string | null {
  if (!text.startsWith(PREFIX)) return null
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64')
  const isWhole = bytes.length === KEY_BYTES && PREFIX + bytes.toString('base64') === text
  return isWhole ? bytes.toString('base64url') : null
}
