// Sends a signed specimen to an endpoint at once, as the engine would send a callback, and returns the
// outcome. One attempt, no retry, nothing stored: it is no delivery. A paused endpoint is tested too,
// because its owner asks for it. A 200 of an endpoint that has failed until now makes due what it is owed.

import type { AttemptResult } from '../../core/delivery/callback-request.ts'
import { isSuccess, outcomeCode } from '../../core/delivery/delivery.ts'
import { toClientCode } from '../../core/delivery/outcome-words.ts'
import { specimenPayment } from '../../core/payments/payment-text.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { callbackHeaders, traceparentOf } from '../../core/signatures/callback-headers.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import { readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'
import { RateBuckets } from '../access/rate-buckets.ts'
import { retryMended } from '../deliveries/retry-endpoint.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { signIfEnabled } from '../shared/sign-callback.ts'
import { UnderWay } from '../shared/under-way.ts'

export interface TestResult {
  delivered: boolean
  /** Null when no answer came. */
  status: number | null
  durationMs: number
  /** Why no answer came, or why nothing could be sent. */
  error: string | null
}

/** Each test takes 15 s at most, so this also bounds the connections that tests hold. */
const AT_A_TIME = { max: 64, perClientMax: 16 }

export class EndpointTester {
  readonly #deps: Deps
  readonly #rate: RateBuckets
  /** By client key. */
  readonly #underWay = new UnderWay<number>(AT_A_TIME)

  constructor(deps: Deps) {
    this.#deps = deps
    this.#rate = new RateBuckets({
      burst: 20,
      perSecond: 1,
      keysMax: 10_000,
      monotonicMs: () => deps.clock.monotonicMs(),
    })
  }

  async test(scope: EndpointScope, endpointId: string): Promise<TestResult> {
    const endpoint = await findEndpoint(this.#deps.pool, scope, endpointId)
    if (endpoint === null) throw notFound()
    const leave = this.#enter(scope.clientKey, endpoint.id)
    try {
      const result = toResult(await this.#attempt(scope.clientKey, endpoint.id))
      if (result.delivered) {
        await retryMended(this.#deps, scope.clientKey, endpoint.id).catch(passOverload)
      }
      return result
    } finally {
      leave()
    }
  }

  /** Returns what is to be called at the end. Without a rate, any client could make us flood an address. */
  #enter(clientKey: number, endpointId: string): () => void {
    const waitSeconds = this.#rate.waitSeconds(endpointId)
    if (waitSeconds > 0) {
      throw new ServiceError(
        'too-many-requests',
        'An endpoint is tested 20 times in a row, then once a second. Wait, then go on.',
        { retryAfterSeconds: waitSeconds },
      )
    }
    const leave = this.#underWay.enter(clientKey)
    if (leave === 'client') {
      throw new ServiceError(
        'too-many-requests',
        'Sixteen of your tests are under way. Wait until one has ended.',
        { retryAfterSeconds: 5 },
      )
    }
    if (leave === 'all') {
      throw new ServiceError('overloaded', 'Too many tests are under way. Try again in a while.', {
        retryAfterSeconds: 5,
      })
    }
    this.#rate.take(endpointId)
    return leave
  }

  async #attempt(clientKey: number, endpointId: string): Promise<AttemptResult> {
    const { pool, sealer, clock } = this.#deps
    const [endpoint] = await readSendingEndpoints(pool, sealer, [{ clientKey, endpointId }])
    if (endpoint === undefined) throw notFound()
    if (endpoint.secrets === null) {
      return { outcome: { kind: 'unsendable', reason: 'undecryptable-key' }, durationMs: 0 }
    }
    const atMs = clock.nowMs()
    const body = [Buffer.from(specimenPayment(atMs))]
    const eventId = this.#deps.newId()
    const [kind, attempt] = ['payment.created', 1]
    const ours = await signIfEnabled(this.#deps.webhookKeys, endpoint.settings, {
      eventId,
      atMs,
      body,
    })
    const headers = callbackHeaders(
      {
        eventId,
        kind,
        sequence: 1,
        attempt,
        atMs,
        mark: 'test',
        // There is no delivery: the endpoint's id stands in.
        traceparent: traceparentOf(eventId, endpointId),
        extraHeader: endpoint.secrets.extraHeader,
        hmacHeaderName: endpoint.settings.hmacHeaderName,
      },
      endpoint.secrets.keys,
      body,
      ours,
    )
    const {
      url,
      settings: { tls },
    } = endpoint
    return this.#deps.send({
      url,
      clientKey,
      eventId,
      kind,
      attempt,
      headers,
      body,
      tls,
      oauth2: endpoint.secrets.oauth2,
      endpointId,
      deliveryId: null,
      beginByMs: null,
    })
  }
}

function toResult({ outcome, durationMs }: AttemptResult): TestResult {
  const isAnswered = outcome.kind === 'answered'
  return {
    delivered: isSuccess(outcome),
    status: isAnswered ? outcome.status : null,
    durationMs: Math.round(durationMs),
    error: isAnswered ? null : toClientCode(outcomeCode(outcome)),
  }
}

/** What is owed is tried at its own time, then. That the test was answered is the news, and must not be lost. */
function passOverload(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === 'overloaded')) throw error
}
