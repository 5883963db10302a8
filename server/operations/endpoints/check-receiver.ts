// Checks the receiver of an endpoint, in its owner's name: with its keys, through the guard that every
// callback passes, marked as a test. How often, and how many at once, is bounded for each endpoint and each client.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answered, CheckReport } from '../../core/checking/receiver-check.ts'
import type { CheckPost } from '../../core/checking/receiver-check-posts.ts'
import { runReceiverCheck } from '../../core/checking/receiver-checker.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { toSigningKey } from '../../core/signatures/signature.ts'
import type { EndpointScope } from '../../store/endpoints/endpoints.ts'
import {
  beginCheck,
  type CheckedEndpoint,
  endCheck,
} from '../../store/endpoints/receiver-checks.ts'
import { RateBuckets } from '../access/rate-buckets.ts'
import type { Deps } from '../shared/deps.ts'
import { UnderWay } from '../shared/under-way.ts'
import { type OpenEndpoint, openEndpoint } from './verify-signature.ts'

const AT_A_TIME = { max: 16, perClientMax: 2 }
/** A check is a dozen POSTs, 1.5 MB in all: without a limit it could be used to flood a host. */
const PER_ENDPOINT = { burst: 5, perSecond: 1 / 60, keysMax: 10_000 }
const PER_CLIENT = { burst: 20, perSecond: 1 / 6, keysMax: 10_000 }
/** A check that has not recorded its end after this time died with its process. */
const GIVEN_UP_AFTER_MS = 90_000

export class ReceiverChecker {
  readonly #deps: Deps
  readonly #perEndpoint: RateBuckets
  readonly #perClient: RateBuckets
  /** By client key. */
  readonly #underWay = new UnderWay<number>(AT_A_TIME)

  constructor(deps: Deps) {
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#deps = deps
    this.#perEndpoint = new RateBuckets({ ...PER_ENDPOINT, monotonicMs })
    this.#perClient = new RateBuckets({ ...PER_CLIENT, monotonicMs })
  }

  async check(scope: EndpointScope, endpointId: string): Promise<CheckReport> {
    const { clientKey } = scope
    const endpoint = await openEndpoint(this.#deps, scope, endpointId)
    const isSigned = endpoint.settings.signatures.includes('ed25519')
    const signers = isSigned ? await this.#deps.webhookKeys.signers() : []
    const leave = this.#enter(clientKey, endpoint.id)
    try {
      return await this.#runAlone({ clientKey, endpointId: endpoint.id }, () =>
        runReceiverCheck(
          {
            clock: this.#deps.clock,
            newId: () => this.#deps.newId(),
            strangeKey: toSigningKey(randomBytes(32)),
            send: (post, expectsRefusal) => this.#send(endpoint, post, expectsRefusal),
          },
          {
            url: endpoint.url,
            hmacHeaderName: endpoint.settings.hmacHeaderName,
            ...endpoint.secrets,
            signers,
          },
        ),
      )
    } finally {
      leave()
    }
  }

  #send(
    { url, clientKey, settings: { tls }, secrets: { oauth2 } }: OpenEndpoint,
    { pauseMs, ...post }: CheckPost,
    expectsRefusal: boolean,
  ): Promise<Answered> {
    const body = pauseMs === 0 ? post.body : slowly(post.body, pauseMs)
    return this.#deps.send({
      ...{ ...post, body, url, clientKey, tls, oauth2, expectsRefusal },
      ...{ endpointId: null, deliveryId: null, beginByMs: null },
    })
  }

  /** Takes a slot, or throws; returns a function that gives the slot back. */
  #enter(clientKey: number, endpointId: string): () => void {
    const leave = this.#underWay.enter(clientKey)
    if (leave === 'client') {
      throw tooOften('Two of your checks are under way. Wait until one has ended.', 10)
    }
    if (leave === 'all') {
      throw new ServiceError('overloaded', 'Too many checks are under way. Try again in a while.', {
        retryAfterSeconds: 30,
      })
    }
    const waitSeconds = Math.max(
      this.#perEndpoint.waitSeconds(endpointId),
      this.#perClient.waitSeconds(String(clientKey)),
    )
    if (waitSeconds > 0) {
      leave()
      throw tooOften(
        'An endpoint is checked five times in a row, then once a minute; all of a client’s twenty times, then ten times a minute.',
        waitSeconds,
      )
    }
    this.#perEndpoint.take(endpointId)
    this.#perClient.take(String(clientKey))
    return leave
  }

  /** One check at a time for each endpoint, across all processes. */
  async #runAlone(
    checked: CheckedEndpoint,
    work: () => Promise<CheckReport>,
  ): Promise<CheckReport> {
    const { pool, clock } = this.#deps
    const startedAt = new Date(clock.nowMs())
    if (!(await beginCheck(pool, checked, startedAt, GIVEN_UP_AFTER_MS))) {
      // Nothing was sent, so the check does not count.
      this.#perEndpoint.giveBack(checked.endpointId)
      this.#perClient.giveBack(String(checked.clientKey))
      throw new ServiceError('check-running', 'This receiver is being checked now.', {
        retryAfterSeconds: 60,
      })
    }
    try {
      return await work()
    } finally {
      // If this fails, the next check only waits for GIVEN_UP_AFTER_MS.
      await endCheck(pool, checked, startedAt).catch(() => {})
    }
  }
}

function tooOften(detail: string, retryAfterSeconds: number): ServiceError {
  return new ServiceError('too-many-requests', detail, { retryAfterSeconds })
}

/**
 * The parts with a pause between them. The sender writes a large body part by part, and asks for each
 * part when the one before is out: a slow iterator makes a slow body.
 */
function slowly(parts: readonly Uint8Array[], pauseMs: number): readonly Uint8Array[] {
  return Object.assign([...parts], {
    async *[Symbol.asyncIterator]() {
      for (const [at, part] of parts.entries()) {
        if (at > 0) await delay(pauseMs)
        yield part
      }
    },
  })
}
