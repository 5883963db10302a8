// How much of something is under way at a time, in this process and of one client, so that no client takes what the
// others need. What is counted, and how a refusal reads, is the caller's.

export interface UnderWayLimits {
  max: number
  perClientMax: number
}

/** Whose limit has been reached. */
export type Full = 'client' | 'all'

export class UnderWay<Client> {
  readonly #limits: UnderWayLimits
  readonly #ofClients = new Map<Client, number>()
  #total = 0

  constructor(limits: UnderWayLimits) {
    this.#limits = limits
  }

  /** Returns the function that gives the amount back, which may be called twice; or whose limit was in the way. */
  enter(client: Client, amount = 1): (() => void) | Full {
    const { max, perClientMax } = this.#limits
    if (this.#of(client) + amount > perClientMax) return 'client'
    if (this.#total + amount > max) return 'all'
    this.#add(client, amount)
    let left = amount
    return () => {
      this.#add(client, -left)
      left = 0
    }
  }

  #of(client: Client): number {
    return this.#ofClients.get(client) ?? 0
  }

  #add(client: Client, amount: number): void {
    this.#total += amount
    const own = this.#of(client) + amount
    if (own > 0) this.#ofClients.set(client, own)
    else this.#ofClients.delete(client)
  }
}
