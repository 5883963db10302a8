// Whether a client is active, as this process last heard. That it is, is kept for 2 seconds, so a disabled
// client's tokens stop working well within the promised 5, in every process. That it is not, is not kept: a
// client that was enabled a moment ago, here or elsewhere, is let in at once.

import { Remembered } from '../../core/remembered.ts'
import { type Client, findClient } from '../../store/clients.ts'
import type { Deps } from './deps.ts'

const KEPT_MS = 2_000
const CLIENTS_MAX = 10_000

export class ClientDirectory {
  readonly #deps: Pick<Deps, 'pool' | 'clock'>
  readonly #active: Remembered<string, Client | null>

  constructor(deps: Pick<Deps, 'pool' | 'clock'>) {
    this.#deps = deps
    this.#active = new Remembered({
      keysMax: CLIENTS_MAX,
      expiry: { monotonicMs: () => deps.clock.monotonicMs(), ageMsMax: KEPT_MS },
      isKept: (client) => client !== null,
    })
  }

  /** The client if it exists and is active. Callers at the same time share one query. */
  findActive(clientId: string): Promise<Client | null> {
    return this.#active.get(clientId, () => this.#ask(clientId))
  }

  async #ask(clientId: string): Promise<Client | null> {
    const client = await findClient(this.#deps.pool, clientId)
    return client?.status === 'ACTIVE' ? client : null
  }
}
