// The file of a large payment, read before the rest: decoded in an iteration of the event loop of its own,
// and hashed in another thread.

import { webcrypto } from 'node:crypto'
import { decodeFile, FileReadAhead, toFile } from '../../core/payments/payment-document.ts'
import { LARGE_BYTES_MIN, type LargeWork } from '../basics/large-work.ts'

/** Replaces the file's text with the file. A wrong one is left for the checks, which report it. */
export async function readFileAhead(payment: unknown, work: LargeWork): Promise<void> {
  const { document } = (payment ?? {}) as { document?: { base64EncodedFile?: unknown } | null }
  const text = document?.base64EncodedFile
  if (!document || typeof text !== 'string' || text.length < LARGE_BYTES_MIN) return
  const decoded = await work.run(() => decodeFile(text))
  if (typeof decoded === 'string') return
  const hash = await webcrypto.subtle.digest('SHA-256', decoded as Uint8Array<ArrayBuffer>)
  const file = await work.run(() => toFile(text, decoded, new Uint8Array(hash)))
  document.base64EncodedFile = new FileReadAhead(file)
}
