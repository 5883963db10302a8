// The document of a callback, whichever way its file comes: inside the body, or by a link that is fetched when asked.

import { PaybellError } from '../plain/errors.ts'
import { BodyTooLarge, readBytes } from '../plain/read-bytes.ts'
import type { PaymentDocument } from '../wire/payment-parts.ts'
import type { Payment } from '../wire/types.ts'

/** A payment as a callback brings it. */
export interface ReceivedPayment extends Payment {
  document?: ReceivedDocument
}

export interface ReceivedDocument extends PaymentDocument {
  /**
   * The file. Where it came as a link, it is fetched now: within 30 seconds, and at most 10 MiB. Rejects with a
   * PaybellError when there is no file (the endpoint's `document` is `none`) or the link is no longer good.
   */
  bytes(options?: { signal?: AbortSignal | undefined }): Promise<Uint8Array<ArrayBuffer>>
}

const FILE_BYTES_MAX = 10 * 1024 * 1024
const FETCH_MS_MAX = 30_000

/** Adds `bytes` to the document. It is no member of the JSON, so it is not enumerable. */
export function withBytes(payment: Payment): ReceivedPayment {
  const { document } = payment
  if (document !== undefined && document !== null) {
    const bytes: ReceivedDocument['bytes'] = (options) => readDocument(document, options?.signal)
    Object.defineProperty(document, 'bytes', { value: bytes })
  }
  return payment as ReceivedPayment
}

async function readDocument(
  { base64EncodedFile, url }: PaymentDocument,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (base64EncodedFile !== undefined) {
    return Uint8Array.from(atob(base64EncodedFile), (character) => character.charCodeAt(0))
  }
  if (url === undefined) {
    throw new PaybellError('This callback came without its file: the endpoint has document none.', {
      code: 'no-document',
    })
  }
  const limit = AbortSignal.timeout(FETCH_MS_MAX)
  const answer = await fetch(url, {
    // A link is never redirected; another address would be another's file.
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch((cause) => {
    throw new PaybellError('The document could not be fetched.', { code: 'network-error', cause })
  })
  if (answer.status !== 200) {
    await answer.body?.cancel()
    throw new PaybellError(`The link of the document was answered with ${answer.status}.`, {
      code: answer.status === 410 ? 'link-ended' : 'unexpected-answer',
      status: answer.status,
    })
  }
  return readBytes(answer, FILE_BYTES_MAX).catch((cause) => {
    const code = cause instanceof BodyTooLarge ? 'unexpected-answer' : 'network-error'
    throw new PaybellError('The document could not be read to its end.', { code, cause })
  })
}
