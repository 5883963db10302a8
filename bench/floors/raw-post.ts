// The floor of sending: the same bodies, headers and signatures to the same receiver, without a
// service. Once through undici's dispatch alone, once through Paybell's guarded client.

import { createSecretKey, randomBytes } from 'node:crypto'
import { type Dispatcher, Pool } from 'undici'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { CallbackClient } from '../../server/delivery/sending/callback-client.ts'
import { firstHeaders } from '../harness/first-headers.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { PaymentMaker } from '../harness/payments.ts'
import { SHARED_KEY } from '../paybell/prepare.ts'

export interface RawPostOptions {
  url: string
  seconds: number
  /** As many as Paybell opens to one origin. */
  connections: number
  underWay: number
  seed: string
  firstNumber: number
}

export interface RawPosted {
  sent: number
  failed: number
  seconds: number
  latenciesMs: number[]
}

type Post = (body: Buffer, headers: string[]) => Promise<boolean>

export async function rawDispatch(options: RawPostOptions): Promise<RawPosted> {
  const { origin, pathname } = new URL(options.url)
  const pool = new Pool(origin, { connections: options.connections, pipelining: 1 })
  const post: Post = (body, headers) =>
    new Promise((resolve) => {
      pool.dispatch({ path: pathname, method: 'POST', headers, body }, new Answer(resolve))
    })
  const posted = await loop(options, post)
  await pool.close()
  return posted
}

class Answer implements Dispatcher.DispatchHandler {
  readonly #resolve: (isOk: boolean) => void
  #status = 0

  constructor(resolve: (isOk: boolean) => void) {
    this.#resolve = resolve
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#resolve(this.#status === 200)
  }

  onResponseError(): void {
    this.#resolve(false)
  }
}

export async function rawClient(options: RawPostOptions): Promise<RawPosted> {
  const client = new CallbackClient({
    policy: { loopbackAllowed: true, allowedNetworks: [] },
    connectionsPerOrigin: options.connections,
  })
  const { url } = options
  const posted = await loop(options, async (body, headers) => {
    const { outcome } = await client.send({ url, clientKey: 1, headers, body: [body] })
    return outcome.kind === 'answered' && outcome.status === 200
  })
  await client.close()
  return posted
}

async function loop(options: RawPostOptions, post: Post): Promise<RawPosted> {
  const keys = { current: createSecretKey(Buffer.from(SHARED_KEY)), previous: null }
  const maker = new PaymentMaker(options.seed)
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const startedAtMs = monotonicMs()
  const until = startedAtMs + options.seconds * 1_000
  const posted: RawPosted = { sent: 0, failed: 0, seconds: 0, latenciesMs: [] }
  let number = options.firstNumber
  const sender = async () => {
    while (monotonicMs() < until) {
      const beganAtMs = monotonicMs()
      const body = Buffer.from(maker.callback(number++))
      const eventId = ids.next()
      const headers = firstHeaders(eventId, keys, [body])
      if (await post(body, headers)) posted.sent++
      else posted.failed++
      if (options.underWay === 1) posted.latenciesMs.push(monotonicMs() - beganAtMs)
    }
  }
  await Promise.all(Array.from({ length: options.underWay }, sender))
  posted.seconds = (monotonicMs() - startedAtMs) / 1_000
  return posted
}
