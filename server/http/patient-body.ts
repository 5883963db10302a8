// Bodies that are read as fast as we can take them, which may be slowly. Node bounds the time for a whole
// request, and counts while we hold it back; here the sender's silence counts instead, and only while it
// is waited for.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'

const SILENCE_MS_MAX = 30_000

/** Sockets with such a body under way. */
const patient = new WeakSet<Socket>()

/** From now on, and until its answer is out, Node's time for the whole of this request is not counted. */
export function bePatientWith(request: IncomingMessage): void {
  const { socket } = request
  patient.add(socket)
  const forget = () => patient.delete(socket)
  request.once('end', forget)
  request.once('close', forget)
}

export function isPatientWith(socket: Socket): boolean {
  return patient.has(socket)
}

export async function* readPatiently(body: Readable): AsyncGenerator<Buffer, void> {
  const chunks = body.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await withinSilence(chunks.next())
    if (next.done) return
    yield next.value
  }
}

async function withinSilence<T>(next: Promise<T>): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(timedOut()), SILENCE_MS_MAX)
  try {
    return await Promise.race([next, silence])
  } finally {
    clearTimeout(timer)
  }
}

function timedOut(): ServiceError {
  return new ServiceError(
    'request-timeout',
    'Nothing came for 30 seconds. Lines sent so far may have been recorded; sending them again is harmless.',
  )
}
