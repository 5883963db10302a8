// What a line of a batch of payments is, wherever batches are read: a blank one is none, and a batch has its limits.

import { ServiceError } from '../plain/errors.ts'

/** Made once: a new error for each line, with its stack, was 4 % of a batch. */
export const LINE_TOO_LONG = new ServiceError(
  'body-too-large',
  'The line is longer than any payment can be.',
)

export function batchTooLarge(what: string): ServiceError {
  return new ServiceError(
    'body-too-large',
    `The batch has ${what}: send it in parts. Lines sent so far may have been recorded; sending them again is harmless.`,
  )
}

/** A loop: a line may be as long as the largest payment. */
export function isBlank(line: Uint8Array): boolean {
  for (let index = 0; index < line.length; index++) {
    const byte = line[index]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  }
  return true
}
