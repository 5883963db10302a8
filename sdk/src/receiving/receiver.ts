// A receiver of callbacks: raw body, signature, deduplication, order, then your function, then exactly
// 200, the only status that counts as delivered. After any other answer Paybell tries again.

import { SignatureError } from '../plain/errors.ts'
import { KeyedMutex } from '../plain/keyed-mutex.ts'
import { BodyTooLarge, BodyUnreadable, readBytes } from '../plain/read-bytes.ts'
import type { ReceivedPayment } from './received-document.ts'
import { createMemorySeen, type SeenStore } from './seen.ts'
import { type Callback, type SharedKeys, type VerifyOptions, verify } from './verify.ts'

export interface ReceiverOptions {
  /**
   * The key given at registration, several during a rotation, or a function that fetches them. May be left out
   * where `publicKeys` are given: then `v1a` alone is checked.
   */
  sharedKey?: SharedKeys | (() => SharedKeys | Promise<SharedKeys>) | undefined
  /** The keys of `v1a`: `whpk_…`, or what `fetchPublicKeys` has made. */
  publicKeys?: VerifyOptions['publicKeys']
  /** Which signatures must hold; by default all that there are keys for. */
  signatures?: VerifyOptions['signatures']
  /**
   * Called once for each event, in sequence for each payment. When it throws, the receiver answers 500
   * and Paybell tries again. Paybell waits 15 seconds for the answer: store the work, and do what takes
   * longer afterwards.
   */
  onPayment(payment: ReceivedPayment, callback: Callback): unknown
  /** Test sends carry a specimen and never reach `onPayment`. */
  onTest?: ((callback: Callback) => unknown) | undefined
  /** What was handled before. In memory by default: see `SeenStore`. */
  seen?: SeenStore | undefined
  /** Hand replays to `onPayment` even when they were handled before, or are out of date. */
  handleReplays?: boolean | undefined
  toleranceSeconds?: number | undefined
  dialect?: VerifyOptions['dialect']
  hmacHeaderName?: VerifyOptions['hmacHeaderName']
  /** 16 MiB by default: a document of 10 MiB in base64, and room. */
  bodyBytesMax?: number | undefined
  /** An error of yours: from `onPayment`, `seen` or `sharedKey`. Goes to the console by default. */
  onError?: ((error: unknown, callback: Callback | undefined) => void) | undefined
  /** A callback that must not be trusted. */
  onRefused?: ((error: SignatureError) => void) | undefined
  /** For tests. */
  now?: (() => Date) | undefined
}

export type Receiver = (request: Request) => Promise<Response>

/** Paybell gives up after 15 s: a request that waits for an earlier one is answered before that. */
const LOCK_WAIT_MS_MAX = 10_000

/**
 * A function from a `Request` to a `Response`, as most runtimes take it; for others there are
 * `@paybell/sdk/adapters`.
 *
 * ```js
 * import { createReceiver, signForTest } from '@paybell/sdk'
 *
 * const sharedKey = 'a-long-random-text-that-only-we-two-know'
 * const receiver = createReceiver({
 *   sharedKey,
 *   onPayment: ({ id, amount }, { event }) => console.log(event, id, amount.amount, amount.currency),
 * })
 * const { toRequest } = await signForTest({ sharedKey })
 * console.log((await receiver(toRequest())).status) // 200
 * ```
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { onPayment, onTest, handleReplays = false, bodyBytesMax = 16 * 1024 * 1024 } = options
  if (typeof onPayment !== 'function') throw new TypeError('onPayment is missing: a function.')
  // Anything but a key, such as a variable that is not set, fails at the start, not at the first callback.
  const isPublicAlone = options.publicKeys !== undefined && !('sharedKey' in options)
  if (!isPublicAlone && typeof options.sharedKey !== 'function' && !options.sharedKey?.length) {
    throw new TypeError('sharedKey is missing: the key that you registered.')
  }
  const seen = options.seen ?? createMemorySeen()
  const mutex = new KeyedMutex()

  const report = (error: unknown, callback?: Callback) => {
    if (options.onError) options.onError(error, callback)
    else console.error('paybell receiver:', error)
  }

  async function open(request: Request): Promise<Callback> {
    const body = await readBytes(request, bodyBytesMax)
    const { sharedKey, toleranceSeconds, dialect, hmacHeaderName, publicKeys, signatures } = options
    const keys = typeof sharedKey === 'function' ? await sharedKey() : (sharedKey ?? null)
    return verify(body, request.headers, keys, {
      toleranceSeconds,
      dialect,
      hmacHeaderName,
      publicKeys,
      signatures,
      now: options.now?.(),
    })
  }

  async function handle(callback: Callback): Promise<Response> {
    const { payment } = callback
    const event = { id: callback.id, paymentId: payment.id, sequence: callback.sequence }
    const isWantedReplay = handleReplays && callback.isReplay
    const claim = isWantedReplay ? 'new' : await seen.claim(event)
    // Not 200: the call that is handling it may still fail.
    if (claim === 'busy') return tryAgain('This event is being handled at the moment.')
    if (claim === 'stale' && 'hours' in seen) await seen.settle(event)
    if (claim === 'duplicate' || claim === 'stale') return taken()
    // An unknown answer of the store must not lose the event.
    if (claim !== 'new') throw new TypeError(`seen.claim answered ${claim}.`)
    try {
      await onPayment(payment, callback)
    } catch (error) {
      report(error, callback)
      if (!isWantedReplay) await seen.release(event)
      return answer(500, 'handler-failed', 'The handler of this receiver failed.')
    }
    try {
      await seen.settle(event)
    } catch (error) {
      // The work is done: a retry would do it twice.
      report(error, callback)
    }
    return taken()
  }

  return async (request) => {
    if (request.method !== 'POST') {
      await request.body?.cancel()
      return answer(405, 'method-not-allowed', 'Callbacks are sent by POST.', { allow: 'POST' })
    }
    let callback: Callback | undefined
    try {
      callback = await open(request)
      const opened = callback
      if (opened.isTest) {
        await onTest?.(opened)
        return taken()
      }
      const response = await mutex.withLock(opened.payment.id, LOCK_WAIT_MS_MAX, () =>
        handle(opened),
      )
      return response ?? tryAgain('An earlier update of this payment is still being handled.')
    } catch (error) {
      if (error instanceof SignatureError) {
        options.onRefused?.(error)
        return answer(error.code.startsWith('malformed') ? 400 : 401, error.code, error.message)
      }
      if (error instanceof BodyTooLarge) return answer(413, 'body-too-large', error.message)
      if (error instanceof BodyUnreadable) return answer(400, 'body-unreadable', error.message)
      report(error, callback)
      return answer(500, 'receiver-failed', 'This receiver failed.')
    }
  }
}

function taken(): Response {
  return new Response(null, { status: 200 })
}

function tryAgain(detail: string): Response {
  return answer(503, 'busy', detail, { 'retry-after': '1' })
}

/** The body says why: Paybell stores the beginning of a refusal. */
function answer(
  status: number,
  error: string,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify({ error, detail }), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}
