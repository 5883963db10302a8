// The body of a request on its way to a cell. A short one is read first, so that it can be sent twice: after a 308, and
// where an id is looked for in several cells. A long one, or one of unknown length, is passed on as it comes.

import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'

/** As much as most calls of the interface take at all. */
const KEPT_BYTES_MAX = 64 * 1_024
const READ_MS_MAX = 30_000

/** Null where there is none; a stream goes once, and bytes again and again. */
export type RequestBody = Buffer | Readable | null

export async function openBody(request: IncomingMessage): Promise<RequestBody> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return null
  if (encoding === undefined && Number(length) <= KEPT_BYTES_MAX) return readShort(request)
  // Not the request itself: the client that sends it on would close the caller's socket with it, before the answer.
  const passed = new PassThrough()
  request.once('error', (error) => passed.destroy(error))
  return request.pipe(passed)
}

export function isRepeatable(body: RequestBody): body is Buffer | null {
  return body === null || Buffer.isBuffer(body)
}

async function readShort(request: IncomingMessage): Promise<Buffer> {
  const late = setTimeout(() => request.destroy(tooSlow()), READ_MS_MAX)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    return Buffer.concat(chunks)
  } finally {
    clearTimeout(late)
  }
}

function tooSlow(): ServiceError {
  return new ServiceError('request-timeout', 'The request did not arrive in time.')
}
