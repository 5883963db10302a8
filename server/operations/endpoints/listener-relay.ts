// Connects an attempt at a listener with the request that fetches it. The engine sends here as it sends
// anywhere, with the same deadline; a request for the next callback takes an offer, and its answer ends
// the attempt. The two may reach different processes: they meet in the database, which each process polls
// four times a second with one query for all that wait, and only while an attempt or a request waits.

import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import {
  answerOffer,
  collectAnswers,
  findOffered,
  giveOfferBack,
  insertOffer,
  type Offer,
  type OfferAnswer,
  type OfferKey,
  takeOffer,
  withdrawOffer,
  withdrawUntaken,
} from '../../store/endpoints/listener-offers.ts'
import type { ListenerKey } from '../../store/endpoints/listeners.ts'
import type { Deps } from '../shared/deps.ts'
import { UnderWay } from '../shared/under-way.ts'

export interface ListenerRelayOptions {
  /** From an attempt's offer to its answer; the lease of its shard has room for no more. */
  deadlineMs: number
  /** As the engine's. */
  cautiousMs(): number
  onError(error: unknown): void
}

const LOOK_EVERY_MS = 250
/** Each waiting request holds a connection, here and at the caller. */
const WAITING = { max: 1_000, perClientMax: 256 }
const WAITING_PER_LISTENER_MAX = 64

const TIMEOUT: Outcome = { kind: 'unreachable', reason: 'timeout' }
const UNREACHABLE: Outcome = { kind: 'unreachable', reason: 'connect-error' }

/** How an offer ended. No answer: its deadline passed, whether or not a listener had taken it. */
interface End {
  answer: OfferAnswer | null
  isTaken: boolean
}

interface OpenOffer {
  key: OfferKey
  end(end: End): void
}

interface Waiter {
  wake(): void
  /** Resolves when an offer may be there, when the time is over, or when the caller is gone. */
  woken: Promise<void>
  leave(): void
}

export class ListenerRelay {
  readonly #deps: Pick<Deps, 'pool' | 'clock' | 'newId'>
  readonly #options: ListenerRelayOptions
  /** Attempts of this process that are not answered yet, by the id of their offer. */
  readonly #open = new Map<string, OpenOffer>()
  /** Requests to this process that wait for a callback, by listener. */
  readonly #waiting = new Map<string, { key: ListenerKey; waiters: Set<Waiter> }>()
  readonly #underWay = new UnderWay<number>(WAITING)
  #timer: NodeJS.Timeout | undefined
  #isStopping = false
  #onSettled: (() => void) | null = null

  constructor(deps: Pick<Deps, 'pool' | 'clock' | 'newId'>, options: ListenerRelayOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * One attempt; it ends at its deadline. Rejects when no listener took the delivery: no byte was sent, and
   * the engine does not count an attempt. A test gets an outcome instead.
   */
  async send(request: CallbackRequest): Promise<AttemptResult> {
    const { clock } = this.#deps
    // The deadline counts from here, not from the insert: a process that is frozen in between must not
    // offer a delivery whose shard another process owns by then.
    const startedAtMs = clock.monotonicMs()
    if (this.#options.cautiousMs() >= (request.beginByMs ?? Infinity)) {
      throw new Error('the lease may end before the attempt is over')
    }
    const elapsedMs = () => Math.round(clock.monotonicMs() - startedAtMs)
    const isDelivery = request.deliveryId !== null
    try {
      const { answer, isTaken } = await this.#offer(this.#toOffer(request))
      if (answer === null && !isTaken && isDelivery) throw new Error('no listener has taken it')
      if (answer === null) return { outcome: TIMEOUT, durationMs: elapsedMs() }
      return {
        outcome: answer.outcome,
        // The listener's own figure: it cannot have taken longer than it took us.
        durationMs: Math.min(answer.durationMs, elapsedMs()),
      }
    } catch (error) {
      if (isDelivery) throw error
      this.#options.onError(error)
      return { outcome: UNREACHABLE, durationMs: elapsedMs() }
    }
  }

  /**
   * Takes the next callback for this caller to forward and to answer. Null when none came within `waitMs`,
   * and when the caller is gone. `onWait` is called every few seconds while it waits.
   */
  async take(
    listener: ListenerKey,
    waitMs: number,
    { signal, onWait, everyMs }: { signal: AbortSignal; onWait(): Promise<void>; everyMs: number },
  ): Promise<Offer | null> {
    const { pool, clock } = this.#deps
    const endsAtMs = performance.now() + waitMs
    for (;;) {
      // Registers before it looks, so that an offer made in between wakes it.
      const waiter = this.#wait(listener)
      try {
        const offer = await takeOffer(pool, listener, new Date(clock.nowMs()))
        if (offer !== null && !signal.aborted) return offer
        if (offer !== null) await giveOfferBack(pool, offer)
        const leftMs = endsAtMs - performance.now()
        if (leftMs <= 0 || signal.aborted || this.#isStopping) return null
        await wokenOr(waiter, Math.min(leftMs, everyMs), signal)
      } finally {
        this.#stopWaiting(listener, waiter)
      }
      if (signal.aborted) return null
      await onWait()
    }
  }

  /** Returns an offer that could not be handed to the caller that took it. */
  async giveBack(offer: OfferKey): Promise<void> {
    await giveOfferBack(this.#deps.pool, offer)
  }

  /** False when the attempt no longer waits for an answer. */
  async answer(key: OfferKey, answer: OfferAnswer): Promise<boolean> {
    const { pool, clock } = this.#deps
    const isTaken = await answerOffer(pool, key, answer, new Date(clock.nowMs()))
    const open = this.#open.get(key.id)
    if (isTaken && open !== undefined) await this.#collect([open])
    return isTaken
  }

  /**
   * Resolves when every attempt has been answered, or after `ms`; then ends all waiting requests. Answers
   * arrive until then only if the server is stopped after this. An offer not taken by then is no attempt.
   */
  async settle(ms: number): Promise<void> {
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onSettled = resolve
        setTimeout(resolve, ms).unref()
      })
    }
    this.#isStopping = true
    for (const { waiters } of this.#waiting.values()) for (const waiter of waiters) waiter.wake()
    await this.#withdrawUntaken()
  }

  stop(): void {
    this.#isStopping = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #toOffer(request: CallbackRequest): Offer {
    const { clock, newId } = this.#deps
    const { clientKey, eventId, attempt, headers, endpointId, deliveryId } = request
    if (endpointId === null) throw new Error('a listener is reached by its id')
    return {
      clientKey,
      listenerId: endpointId,
      id: newId(),
      deliveryId,
      eventId,
      attempt,
      headers,
      body: deliveryId === null ? Buffer.concat(request.body) : null,
      deadlineAt: new Date(clock.nowMs() + this.#options.deadlineMs),
    }
  }

  async #offer(offer: Offer): Promise<End> {
    const { pool, clock } = this.#deps
    const { promise, resolve } = Promise.withResolvers<End>()
    const open: OpenOffer = { key: offer, end: resolve }
    const timer = setTimeout(() => void this.#withdraw(open), this.#options.deadlineMs)
    this.#open.set(offer.id, open)
    try {
      await insertOffer(pool, offer, new Date(clock.nowMs()))
      this.#wakeWaiters(offer.listenerId)
      this.#look()
      return await promise
    } finally {
      clearTimeout(timer)
      this.#open.delete(offer.id)
      if (this.#open.size === 0) this.#onSettled?.()
    }
  }

  /** The deadline has passed; an answer that came in time and was not collected yet still counts. */
  async #withdraw(open: OpenOffer): Promise<void> {
    try {
      open.end(await withdrawOffer(this.#deps.pool, open.key))
    } catch (error) {
      this.#options.onError(error)
      open.end({ answer: null, isTaken: true })
    }
  }

  async #withdrawUntaken(): Promise<void> {
    if (this.#open.size === 0) return
    try {
      const keys = [...this.#open.values()].map(({ key }) => key)
      for (const id of await withdrawUntaken(this.#deps.pool, keys)) {
        this.#open.get(id)?.end({ answer: null, isTaken: false })
      }
    } catch (error) {
      // They end at their deadlines.
      this.#options.onError(error)
    }
  }

  async #collect(offers: readonly OpenOffer[]): Promise<void> {
    const keys = offers.map(({ key }) => key)
    const answers = await collectAnswers(this.#deps.pool, keys)
    for (const { key, end } of offers) {
      const answer = answers.get(key.id)
      if (answer !== undefined) end({ answer, isTaken: true })
    }
  }

  #wait(key: ListenerKey): Waiter {
    const waiting = this.#waiting.get(key.listenerId) ?? { key, waiters: new Set<Waiter>() }
    if (waiting.waiters.size >= WAITING_PER_LISTENER_MAX) {
      throw tooMany(`At most ${WAITING_PER_LISTENER_MAX} requests wait for one listener.`)
    }
    const leave = this.#underWay.enter(key.clientKey)
    if (leave === 'client') {
      throw tooMany(`At most ${WAITING.perClientMax} requests wait for all your listeners.`)
    }
    if (leave === 'all') {
      throw new ServiceError('overloaded', 'Too many listeners wait here. Try again in a while.', {
        retryAfterSeconds: 5,
      })
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { woken: promise, wake: resolve, leave }
    waiting.waiters.add(waiter)
    this.#waiting.set(key.listenerId, waiting)
    this.#look()
    return waiter
  }

  #stopWaiting({ listenerId }: ListenerKey, waiter: Waiter): void {
    const waiting = this.#waiting.get(listenerId)
    if (!waiting?.waiters.delete(waiter)) return
    waiter.leave()
    if (waiting.waiters.size === 0) this.#waiting.delete(listenerId)
  }

  #wakeWaiters(listenerId: string): void {
    for (const waiter of this.#waiting.get(listenerId)?.waiters ?? []) waiter.wake()
  }

  /** Polls the database for offers and answers of other processes, as long as anything waits. */
  #look(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      void this.#lookOnce().finally(() => {
        this.#timer = undefined
        if (this.#open.size + this.#waiting.size > 0) this.#look()
      })
    }, LOOK_EVERY_MS)
    this.#timer.unref()
  }

  async #lookOnce(): Promise<void> {
    const { pool, clock } = this.#deps
    try {
      if (this.#open.size > 0) await this.#collect([...this.#open.values()])
      const listeners = [...this.#waiting.values()].map(({ key }) => key)
      if (listeners.length === 0) return
      const offered = await findOffered(pool, listeners, new Date(clock.nowMs()))
      for (const listenerId of offered) this.#wakeWaiters(listenerId)
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

function tooMany(detail: string): ServiceError {
  return new ServiceError('too-many-requests', detail, { retryAfterSeconds: 5 })
}

async function wokenOr(waiter: Waiter, ms: number, signal: AbortSignal): Promise<void> {
  const { wake } = waiter
  const timer = setTimeout(wake, ms)
  signal.addEventListener('abort', wake, { once: true })
  try {
    await waiter.woken
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', wake)
  }
}
