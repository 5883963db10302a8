// Why a batch cannot be read. What is wrong with its bytes stays wrong however often they are fetched.

export class UnreadableBatch extends Error {}

/** Of the records of one batch, decompressed. The largest payment has 14 MiB, and a batch of many is small: producers close
 *  one at 1 MiB, unless they are told otherwise. */
export const BATCH_BYTES_MAX = 64 * 1_024 * 1_024
/** A payment takes some 400 bytes at least, so that so many of them fill 40 MiB. */
export const BATCH_RECORDS_MAX = 100_000

export function tooLarge(bytesMax: number): UnreadableBatch {
  return new UnreadableBatch(
    `Its records take more than ${bytesMax / 1_024 / 1_024} MiB when they are decompressed.`,
  )
}

export function damaged(codec: string): UnreadableBatch {
  return new UnreadableBatch(`Its records cannot be decompressed as ${codec}.`)
}
