// The body of a request on its way to a cell. Its beginning is read before a slot of the cell is taken: a body that
// does not come takes none. A short one is read whole, so that it can be sent twice: after a 308, and where an id is
// looked for in several cells. A long one is passed on as it comes.

import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { ServiceError } from '../core/plain/errors.ts'
import type { WaitingBodies } from './waiting-bodies.ts'

/** What is read before a slot is taken. */
export interface BodyLimit {
  bytesMax: number
  /** Whether a longer one is passed on or refused. */
  beyond: 'pass on' | 'refuse'
}

/** As much as most calls of the interface take at all. */
export const USUAL_BODY: BodyLimit = { bytesMax: 64 * 1_024, beyond: 'pass on' }
/** What a cell takes of a sign-in, too. */
export const SIGN_IN_BODY: BodyLimit = { bytesMax: 8 * 1_024, beyond: 'refuse' }
/** Of a batch the first part only: it may be written line by line, and slowly. */
export const BATCH_BODY: BodyLimit = { bytesMax: 0, beyond: 'pass on' }

const READ_MS_MAX = 30_000

/** Null where there is none; a stream goes once, and bytes again and again. */
export type RequestBody = Buffer | Readable | null

export interface BodyRules {
  waiting: WaitingBodies
  /** The caller's. */
  address: string
  limit: BodyLimit
}

export async function openBody(request: IncomingMessage, rules: BodyRules): Promise<RequestBody> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return null
  const { limit } = rules
  if (limit.beyond === 'refuse' && Number(length) > limit.bytesMax) throw tooLarge(limit)
  const { chunks, isWhole } = await readBeginning(request, rules)
  if (isWhole) return Buffer.concat(chunks)
  if (limit.beyond === 'refuse') throw tooLarge(limit)
  // Not the request itself: the client that sends it on would close the caller's socket with it, before the answer.
  const passed = new PassThrough()
  request.once('error', (error) => passed.destroy(error))
  for (const chunk of chunks) passed.write(chunk)
  return request.pipe(passed)
}

export function isRepeatable(body: RequestBody): body is Buffer | null {
  return body === null || Buffer.isBuffer(body)
}

/** All of it, or what goes just beyond the limit. */
async function readBeginning(
  request: IncomingMessage,
  { waiting, address, limit }: BodyRules,
): Promise<{ chunks: Buffer[]; isWhole: boolean }> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const late = setTimeout(() => reject(tooSlow()), READ_MS_MAX)
  const leave = waiting.enter(address, reject)
  const parts = request.iterator({ destroyOnReturn: false })
  const chunks: Buffer[] = []
  let length = 0
  try {
    for (;;) {
      const part = await Promise.race([parts.next(), ended])
      if (part.done) return { chunks, isWhole: true }
      chunks.push(part.value)
      length += part.value.length
      if (length > limit.bytesMax) {
        await parts.return?.()
        return { chunks, isWhole: false }
      }
    }
  } finally {
    clearTimeout(late)
    leave()
  }
}

function tooSlow(): ServiceError {
  return new ServiceError('request-timeout', 'The request did not arrive in time.')
}

function tooLarge({ bytesMax }: BodyLimit): ServiceError {
  return new ServiceError('body-too-large', `The body has more than ${bytesMax} bytes.`)
}
