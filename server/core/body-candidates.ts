// Bodies that may have been signed in place of the one that the signature doctor is shown, and the mistake that
// each of them would mean.

import { otherSpellings } from './json-spellings.ts'
import { type Finding, reserialised, trailingNewline } from './signature-findings.ts'

export interface Candidate {
  bytes: Uint8Array
  fault: Finding | null
}

/** What may have been signed in place of the body that we were shown. */
export function likeliestBodies(body: Uint8Array, eventBody: Uint8Array | null): Candidate[] {
  const candidates: Candidate[] = [
    { bytes: body, fault: null },
    { bytes: Buffer.concat([body, Buffer.from('\n')]), fault: trailingNewline() },
    { bytes: Buffer.concat([body, Buffer.from('\r\n')]), fault: trailingNewline() },
  ]
  const trimmed = withoutNewline(body)
  if (trimmed.length < body.length) candidates.push({ bytes: trimmed, fault: trailingNewline() })
  if (eventBody !== null) candidates.push({ bytes: eventBody, fault: reserialised() })
  for (const bytes of otherSpellings(body)) candidates.push({ bytes, fault: reserialised() })
  return candidates
}

export function withoutNewline(body: Uint8Array): Uint8Array {
  let end = body.length
  while (end > 0 && (body[end - 1] === 0x0a || body[end - 1] === 0x0d)) end--
  return body.subarray(0, end)
}
