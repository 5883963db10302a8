// Whether a client is active, as this process last read it. An active client is remembered for 2 seconds, so
// a disabled one's tokens stop working well within the promised 5, in every process. A refusal is not
// remembered, so that a client that was just enabled, here or elsewhere, is let in at once.

import { Remembered } from '../../core/plain/remembered.ts'
import { type Client, findClient } from '../../store/secrets/clients.ts'
import type { Deps } from '../shared/deps.ts'

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
