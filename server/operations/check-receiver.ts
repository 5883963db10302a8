// Checks the receiver behind an endpoint, in its owner's name: with its keys, through the guard that every
// callback passes, marked as a test. One check at a time for each endpoint, in whichever process.

import { ServiceError } from '../core/errors.ts'
import type { CheckReport } from '../core/receiver-check.ts'
import type { EndpointScope } from '../store/endpoints.ts'
import { beginCheck, endCheck } from '../store/receiver-checks.ts'
import type { Deps } from './deps.ts'
import { runReceiverCheck } from './run-receiver-check.ts'
import { openEndpoint } from './verify-signature.ts'

/** What all checks of this process together may hold. */
const UNDER_WAY_MAX = 16
/** A check that has not said its end by then has died with its process. */
const GIVEN_UP_AFTER_MS = 90_000

export class ReceiverChecker {
  readonly #deps: Deps
  #underWay = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async check(scope: EndpointScope, endpointId: string): Promise<CheckReport> {
    const deps = this.#deps
    const endpoint = await openEndpoint(deps, scope, endpointId)
    if (this.#underWay >= UNDER_WAY_MAX) {
      throw new ServiceError('overloaded', 'Too many checks are under way. Try again in a while.', {
        retryAfterSeconds: 30,
      })
    }
    this.#underWay++
    try {
      const startedAt = new Date(deps.clock.nowMs())
      const givenUp = new Date(startedAt.getTime() - GIVEN_UP_AFTER_MS)
      const place = { clientKey: scope.clientKey, endpointId: endpoint.id }
      if (!(await beginCheck(deps.pool, place, startedAt, givenUp))) {
        throw new ServiceError('check-running', 'This receiver is being checked now.', {
          retryAfterSeconds: 60,
        })
      }
      try {
        return await runReceiverCheck(deps, {
          url: endpoint.url,
          tenant: String(scope.clientKey),
          ...endpoint.secrets,
        })
      } finally {
        // Whatever keeps it from being said: the next check does not wait for ever.
        await endCheck(deps.pool, place, startedAt).catch(() => {})
      }
    } finally {
      this.#underWay--
    }
  }
}
