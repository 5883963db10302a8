// A process that died is known to be dead when PostgreSQL has closed its session (decision 0089). Its sign is a lock
// that this session holds, under a name that is never used again; renewals of its leases name it. Two rules, and no two
// clocks are compared:
// - The owner begins to send only for `provenMs` from the moment it sent the last beat that this session answered.
// - Another takes the leases `endedMs` after it has seen that the lock is free. That is longer, so the owner has stopped,
//   even if it is alive, frozen, and has not heard that its session was cut.

export interface SignPolicy {
  beatEveryMs: number
  /** How long a beat proves that the session was open, from the moment it was sent. */
  provenMs: number
  /** How long after it was seen to have ended a sign's leases are taken. */
  endedMs: number
}

/** What a renewal names. A later turn replaces an earlier one, also if the earlier arrives late. */
export interface Sign {
  readonly turn: number
  /** Null: none. The leases are then taken after their whole time, and need no proof. */
  readonly name: string | null
}

export const UNSIGNED: Sign = { turn: 0, name: null }

/** Another process with a sign, and the shards that it holds; not those whose own aftermath lasts. */
export interface SignedProcess {
  id: string
  name: string
  shards: readonly number[]
}

/** The sign of this process. Times are of its cautious clock, which may run ahead. */
export class OwnSign {
  readonly #policy: SignPolicy
  #current = UNSIGNED
  /** Which of our signs the database may know: those of renewals since the last one that was answered, and its own. */
  #inForce: readonly Sign[] = [UNSIGNED]
  #provenAtMs = Number.NEGATIVE_INFINITY
  /** Asked for with every attempt. */
  #provenUntilMs = Number.POSITIVE_INFINITY

  constructor(policy: SignPolicy) {
    this.#policy = policy
  }

  get current(): Sign {
    return this.#current
  }

  /** Another one, from the next renewal on; or none. */
  change(name: string | null, provenAtMs = Number.NEGATIVE_INFINITY): void {
    this.#current = { turn: this.#current.turn + 1, name }
    this.prove(provenAtMs)
  }

  /** Its session has answered a beat that was sent then. */
  prove(sentAtMs: number): void {
    this.#provenAtMs = sentAtMs
    this.#provenUntilMs = this.#reckon()
  }

  /** For a renewal that is sent now: whether or not it is ever answered, it may hold from now on. */
  beginRenewal(): Sign {
    this.#inForce = [...new Set([...this.#inForce, this.#current])]
    this.#provenUntilMs = this.#reckon()
    return this.#current
  }

  /** The renewal that named it was answered: no earlier one holds any more. */
  endRenewal({ turn }: Sign): void {
    this.#inForce = this.#inForce.filter((sign) => sign.turn >= turn)
    this.#provenUntilMs = this.#reckon()
  }

  /** False when no lease of ours can stand under it any more. */
  mayHold(name: string): boolean {
    return this.#current.name === name || this.#inForce.some((sign) => sign.name === name)
  }

  /** Before when an attempt must begin. Under a sign whose session is gone none may, until the leases are renewed. */
  get provenUntilMs(): number {
    return this.#provenUntilMs
  }

  #reckon(): number {
    const named = this.#inForce.filter(({ name }) => name !== null)
    if (named.length === 0) return Number.POSITIVE_INFINITY
    if (named.some((sign) => sign !== this.#current)) return Number.NEGATIVE_INFINITY
    return this.#provenAtMs + this.#policy.provenMs
  }
}

/** The signs of others. Times are of our monotonic clock, which may stand still. */
export class OthersSigns {
  readonly #policy: SignPolicy
  #signed: readonly SignedProcess[] = []
  /** When the answer was received that showed it as ended: it had ended then, or before, and never comes back. */
  readonly #endedAtMs = new Map<string, number>()

  constructor(policy: SignPolicy) {
    this.#policy = policy
  }

  /** All others that have one, as they were read with their leases. */
  read(signed: readonly SignedProcess[]): void {
    this.#signed = signed
    const names = new Set(signed.map(({ name }) => name))
    for (const name of this.#endedAtMs.keys()) if (!names.has(name)) this.#endedAtMs.delete(name)
  }

  /** Those that are not known to have ended. */
  get watched(): readonly string[] {
    return this.#signed.flatMap(({ name }) => (this.#endedAtMs.has(name) ? [] : [name]))
  }

  end(names: readonly string[], receivedAtMs: number): void {
    for (const name of names)
      if (!this.#endedAtMs.has(name)) this.#endedAtMs.set(name, receivedAtMs)
  }

  /** Processes whose leases may be taken, with when their signs were seen to have ended. */
  gone(nowMs: number): readonly (SignedProcess & { endedAtMs: number })[] {
    return this.#signed.flatMap((process) => {
      const endedAtMs = this.#endedAtMs.get(process.name)
      const isGone = endedAtMs !== undefined && nowMs - endedAtMs >= this.#policy.endedMs
      return isGone ? [{ ...process, endedAtMs }] : []
    })
  }

  /** When the next of them may be taken. */
  nextGoneAtMs(nowMs: number): number {
    const times = [...this.#endedAtMs.values()].map((endedAtMs) => endedAtMs + this.#policy.endedMs)
    return Math.min(Number.POSITIVE_INFINITY, ...times.filter((atMs) => atMs > nowMs))
  }
}
