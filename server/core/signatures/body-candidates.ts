// Bodies that may have been signed in place of the one that the signature doctor is shown, and the mistake that
// each of them would mean. Made once for a diagnosis, and in steps: writing one takes milliseconds.

import type { Steps } from '../plain/steps.ts'
import { otherSpellings } from './json-spellings.ts'
import { type Finding, reserialised, trailingNewline } from './signature-findings.ts'
import type { SignatureInput } from './signature-input.ts'

export interface Candidate {
  /** One after the other: a large body is not copied for a line break at its end. */
  parts: readonly Uint8Array[]
  fault: Finding | null
}

export class CandidateBodies {
  readonly #input: Pick<SignatureInput, 'body' | 'eventBody'>
  #made: readonly Candidate[] | null = null

  constructor(input: Pick<SignatureInput, 'body' | 'eventBody'>) {
    this.#input = input
  }

  /** What may have been signed in place of the body that we were shown, the likeliest first. */
  *all(): Steps<readonly Candidate[]> {
    this.#made ??= yield* this.#make()
    return this.#made
  }

  *#make(): Steps<readonly Candidate[]> {
    const { body, eventBody } = this.#input
    const candidates: Candidate[] = [
      { parts: [body], fault: null },
      { parts: [body, Buffer.from('\n')], fault: trailingNewline() },
      { parts: [body, Buffer.from('\r\n')], fault: trailingNewline() },
    ]
    const trimmed = withoutNewline(body)
    if (trimmed.length < body.length) {
      candidates.push({ parts: [trimmed], fault: trailingNewline() })
    }
    if (eventBody !== null) candidates.push({ parts: [eventBody], fault: reserialised() })
    for (const bytes of yield* otherSpellings(body)) {
      candidates.push({ parts: [bytes], fault: reserialised() })
    }
    return candidates
  }
}

export function withoutNewline(body: Uint8Array): Uint8Array {
  let end = body.length
  while (end > 0 && (body[end - 1] === 0x0a || body[end - 1] === 0x0d)) end--
  return body.subarray(0, end)
}
