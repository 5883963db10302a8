// Bodies that are read at our own pace, which may be slow. Node limits the time of a whole request, including
// the time that we hold it back; here only the sender's silence counts, and only while we wait for it.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/plain/errors.ts'

const SILENCE_MS_MAX = 30_000

/** Sockets with such a body under way. */
const patient = new WeakSet<Socket>()

/** Suspends Node's limit on the whole request, from now until its answer is out. */
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
