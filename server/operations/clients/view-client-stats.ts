// A client's own figures, over all its endpoints and everything that is kept.

import { Remembered } from '../../core/plain/remembered.ts'
import { countArrived, countGivenUp, readOwedFigures } from '../../store/history/client-figures.ts'
import { countEndpointsByHealth } from '../../store/history/health-counts.ts'
import { keptByTimeTaken } from '../shared/dear-figures.ts'
import type { Deps } from '../shared/deps.ts'

const CLIENTS_MAX = 1_000

export type ClientStats = Awaited<ReturnType<typeof readStats>>

export class ClientStatsViewer {
  readonly #deps: Deps
  readonly #stats: Remembered<number, ClientStats>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#stats = new Remembered({ keysMax: CLIENTS_MAX, expiry: keptByTimeTaken(deps.clock) })
  }

  view(clientKey: number): Promise<ClientStats> {
    return this.#stats.get(clientKey, () => readStats(this.#deps, clientKey))
  }
}

async function readStats({ pool, clock }: Deps, clientKey: number) {
  const at = new Date(clock.nowMs())
  const [endpoints, owed, arrived, givenUp] = await Promise.all([
    countEndpointsByHealth(pool, clientKey),
    readOwedFigures(pool, clientKey, at),
    countArrived(pool, clientKey, at),
    countGivenUp(pool, clientKey, at),
  ])
  return { at, endpoints, owed, arrived, givenUp }
}
