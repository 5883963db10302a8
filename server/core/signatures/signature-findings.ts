// What the signature doctor may find, and what it says of it: names the mistake, never a value.

import type { SigningKeys } from './callback-headers.ts'
import { isPreviousAlive } from './signature-input.ts'

export const FINDING_CODES = [
  'missing-header',
  'malformed-header',
  'timestamp-too-old',
  'timestamp-in-future',
  'previous-key',
  'wrong-key',
  'base64-not-hex',
  'hex-not-base64',
  'trailing-newline',
  'body-reserialised',
  'body-changed',
  'signed-content-incomplete',
  'id-or-timestamp-changed',
  'v1a-not-v1',
  'v1-not-v1a',
  'wrong-key-id',
  'wrong-public-key',
  'old-public-key',
] as const
export type FindingCode = (typeof FINDING_CODES)[number]

export interface Finding {
  code: FindingCode
  detail: string
}

export function previousKey(keys: SigningKeys, nowMs: number): Finding {
  return {
    code: 'previous-key',
    detail: isPreviousAlive(keys, nowMs)
      ? `Made with the key from before the last rotation, which counts until ${new Date(keys.previous?.untilMs ?? 0).toISOString()}. Use the new key from now on.`
      : 'Made with the key from before the last rotation. Its 24 hours are over: use the new key.',
  }
}

export function malformedSignature(hmacHeader: string): Finding {
  return {
    code: 'malformed-header',
    detail: `The value cannot be a signature: ${hmacHeader} is 64 lower-case hex digits, an entry of webhook-signature is "v1," and 44 characters of base64.`,
  }
}

export function trailingNewline(): Finding {
  return {
    code: 'trailing-newline',
    detail:
      'The body that was signed and the body that was checked differ by a line break at the end. Bodies have none: an editor, echo or a shell redirect has added it.',
  }
}

export function reserialised(): Finding {
  return {
    code: 'body-reserialised',
    detail:
      'The body was parsed and written again: it says the same, in other bytes (spacing, order of members, digits of numbers or escapes). Verify the raw bytes, before any JSON parser has seen them.',
  }
}

export function bodyChanged(): Finding {
  return {
    code: 'body-changed',
    detail:
      'The body does not say what the event with this webhook-id says: something was changed, cut off or mixed up on the way. GET /v1/events/{id} answers with the bytes that were sent.',
  }
}

export function incompleteContent(): Finding {
  return {
    code: 'signed-content-incomplete',
    detail:
      'This is a signature over the body alone. webhook-signature is made over <webhook-id>.<webhook-timestamp>.<body>.',
  }
}
