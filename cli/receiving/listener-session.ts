// A listener at a service, which survives the service's restarts: registers, fetches one callback after
// the other, reports the outcome of each. Waits for a service that is away.

import { setTimeout as delay } from 'node:timers/promises'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type {
  DeliveryDetail,
  EndpointHealth,
  Listener,
  ListenerOffer,
  ListenerOutcome,
} from '../../sdk/src/wire/types.ts'
import { type Api, UnreachableError } from '../basics/api.ts'
import type { Forwarded } from './forward.ts'

export interface SessionOptions {
  api: Api
  accountId: string
  name: string
  sharedKey: string
  /** Takes a line about the connection. */
  note(text: string): void
}

const WAIT_SECONDS = 25
/** Longer than the service lets a caller wait. */
const POLL_TIMEOUT_MS = 40_000
const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 10_000
/** For the last calls, while leaving. */
const PARTING_TIMEOUT_MS = 3_000

export class ListenerSession {
  readonly #options: SessionOptions
  #id: string | null = null

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Makes the listener or finds it; returns how many callbacks wait for it. */
  async register(): Promise<{ isNew: boolean; pending: number }> {
    const { api, accountId, name, sharedKey } = this.#options
    const answer = await api.post('/v1/listeners', { name, sharedKey }, { accountId })
    const { id } = answer.json<Listener>()
    this.#id = id
    if (answer.status === 201) return { isNew: true, pending: 0 }
    const found = await api.get(`/v1/listeners/${id}`)
    const { health } = found.json<Listener & { health: EndpointHealth }>()
    return { isNew: false, pending: health.pending }
  }

  /** Yields each callback as soon as it is there, until aborted. Ask for the next one at once: others wait. */
  async *callbacks(signal: AbortSignal): AsyncGenerator<ListenerOffer> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (this.#id === null) await this.register()
        const answer = await this.#options.api.call('GET', `/v1/listeners/${this.#id}/next`, {
          query: { wait: WAIT_SECONDS },
          timeoutMs: POLL_TIMEOUT_MS,
          signal,
        })
        if (failures > 0) this.#options.note('Connected again.')
        failures = 0
        if (answer.status === 200) yield answer.json<ListenerOffer>()
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof PaybellError && error.status === 404 && this.#id !== null) {
          this.#options.note('The listener was deleted; creating it again.')
          this.#id = null
          continue
        }
        if (!isPassing(error)) throw error
        if (failures === 0) this.#options.note(`${away(error)} Trying again.`)
        await delay(pauseMs(error, failures++), undefined, { signal }).catch(() => {})
      }
    }
  }

  /** False when the outcome did not reach the service in time: it then tries the callback again. */
  async answer(offer: ListenerOffer, answer: Forwarded, timeoutMs: number): Promise<boolean> {
    const endsAtMs = performance.now() + timeoutMs
    for (let failures = 0; ; failures++) {
      try {
        await this.#options.api.call('POST', `/v1/listeners/${this.#id}/outcomes`, {
          body: toOutcome(offer, answer),
          timeoutMs: Math.max(1_000, Math.round(endsAtMs - performance.now())),
        })
        return true
      } catch (error) {
        if (!(error instanceof PaybellError)) throw error
        if (!isPassing(error) || performance.now() >= endsAtMs) return false
        await delay(pauseMs(error, failures))
      }
    }
  }

  /** Again now, whatever state it is in: one that is pending is retried, one that has ended is replayed. */
  async again(deliveryId: string): Promise<void> {
    const { api } = this.#options
    try {
      await api.call('POST', `/v1/deliveries/${deliveryId}/retry`)
    } catch (error) {
      if (!(error instanceof PaybellError) || error.code !== 'delivery-final') throw error
      await api.call('POST', `/v1/deliveries/${deliveryId}/replay`)
    }
  }

  async explain(deliveryId: string): Promise<string> {
    const answer = await this.#options.api.call('GET', `/v1/deliveries/${deliveryId}`)
    return answer.json<DeliveryDetail>().explanation
  }

  /** Pauses the listener: callbacks wait from now on. */
  async pause(): Promise<void> {
    if (this.#id === null) return
    await this.#options.api.call('PATCH', `/v1/listeners/${this.#id}`, {
      body: { status: 'PAUSED' },
      timeoutMs: PARTING_TIMEOUT_MS,
    })
  }

  /** What it is still owed is cancelled. */
  async delete(): Promise<void> {
    if (this.#id === null) return
    await this.#options.api.call('DELETE', `/v1/listeners/${this.#id}`, {
      timeoutMs: PARTING_TIMEOUT_MS,
    })
    this.#id = null
  }
}

function toOutcome({ offerId }: ListenerOffer, answer: Forwarded): ListenerOutcome {
  const { durationMs } = answer
  if (answer.status === null) return { offerId, error: answer.error, durationMs }
  const { status, body, retryAfter } = answer
  return {
    offerId,
    // The interface takes 200 to 599; anything else is reported as 599.
    status: status >= 200 && status <= 599 ? status : 599,
    durationMs,
    ...(status === 200 || body.length === 0 ? {} : { body: body.toString('utf8') }),
    ...(retryAfter === null ? {} : { retryAfter: retryAfter.slice(0, 100) }),
  }
}

/** The service is away or busy: worth another try. */
function isPassing(error: unknown): boolean {
  if (error instanceof UnreachableError) return true
  return error instanceof PaybellError && (error.status === 429 || error.status >= 500)
}

function away(error: unknown): string {
  return error instanceof UnreachableError
    ? error.message
    : `The service answers ${(error as PaybellError).status}.`
}

function pauseMs(error: unknown, failures: number): number {
  const retryAfterMs = error instanceof PaybellError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
  const backoff = Math.min(RECONNECT_MS_MIN * 2 ** Math.min(failures, 10), RECONNECT_MS_MAX)
  return Math.min(Math.max(retryAfterMs, backoff), RECONNECT_MS_MAX)
}
