// A process that died is known to be dead when PostgreSQL has closed its session (decision 0089). Its sign is a lock
// that this session holds, under a name that is never used again; renewals of its leases name it. Two rules, and no two
// clocks are compared:
// - The owner begins to send only for `provenMs` from the moment it sent the last beat that this session answered.
// - Another takes the leases `endedMs` after it has seen that the lock is free. That is longer, so the owner has stopped,
//   even if it is alive, frozen, and has not heard that its session was cut.
// A third is for those who do not live long themselves: for how long a sign has been known to be ended is written down, and
// who begins to watch later goes on from there. When even the attempts of its process are over, nothing is early any more.

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

/** Another process with a sign, and the shards that it holds. */
export interface SignedProcess {
  id: string
  name: string
  shards: readonly number[]
  /** The others that it holds: it took them early itself, and has not said yet that their aftermath is over. */
  early: readonly number[]
  /** For how long it had been known that this sign has ended, when that was written down last; null when it was not. */
  endedForMs: number | null
}

export interface GoneProcess extends SignedProcess {
  /** When we have seen its sign to have ended. */
  endedAtMs: number
}

/** What is to be written down of a sign that has ended. */
export interface EndedSign {
  id: string
  name: string
  forMs: number
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

  /** Those whose session is at the server where they were read, if ours is there, too. Names begin with it, and only it can tell
   *  which have ended: after a fail-over to a standby that lagged, what is written of the others is not the last that they have
   *  heard, and our session may still be at the server before it. */
  atSameServer(others: readonly SignedProcess[], server: string): readonly SignedProcess[] {
    const isThere = (name: string | null) => name?.startsWith(`${server}/`) === true
    return isThere(this.#current.name) ? others.filter(({ name }) => isThere(name)) : []
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

/** Each takes the server's memory for a lock while it is asked about. */
const IDLE_WATCHED_MAX = 64

/** The signs of others. Times are of our monotonic clock, which may stand still. */
export class OthersSigns {
  readonly #policy: SignPolicy
  #signed: readonly SignedProcess[] = []
  /** When we received the answer that showed it as ended: it had ended then, or before, and never comes back. */
  readonly #seenAtMs = new Map<string, number>()
  /** The same, where others have known it for longer. */
  readonly #knownAtMs = new Map<string, number>()

  constructor(policy: SignPolicy) {
    this.#policy = policy
  }

  /** All others that have one, as they were read with their leases. */
  read(signed: readonly SignedProcess[], receivedAtMs: number): void {
    this.#signed = signed
    const names = new Set(signed.map(({ name }) => name))
    for (const times of [this.#seenAtMs, this.#knownAtMs]) {
      for (const name of times.keys()) if (!names.has(name)) times.delete(name)
    }
    for (const { name, endedForMs } of signed) {
      if (endedForMs !== null) this.#know(name, receivedAtMs - endedForMs)
    }
  }

  /** Those that are not known to have ended, the holders of leases first: of others there is no limit where processes die
   *  and none lives to forget them. What is free is asked about no more, so their turn comes, too. */
  get watched(): readonly string[] {
    const unknown = this.#signed.filter(({ name }) => !this.#seenAtMs.has(name))
    const [holding, idle] = [true, false].map((wanted) =>
      unknown.filter((other) => isHolding(other) === wanted).map(({ name }) => name),
    ) as [string[], string[]]
    return [...holding, ...idle.slice(0, IDLE_WATCHED_MAX)]
  }

  end(names: readonly string[], receivedAtMs: number): void {
    for (const name of names) {
      if (!this.#seenAtMs.has(name)) this.#seenAtMs.set(name, receivedAtMs)
      this.#know(name, receivedAtMs)
    }
  }

  /** For those who watch after us. */
  ended(nowMs: number): readonly EndedSign[] {
    return this.#signed.filter(isHolding).flatMap(({ id, name }) => {
      const atMs = this.#knownAtMs.get(name)
      return atMs === undefined ? [] : [{ id, name, forMs: Math.floor(nowMs - atMs) }]
    })
  }

  /** Shards of processes that are known to be gone for so long, by whoever it was. */
  heldByGoneFor(ms: number, nowMs: number): readonly number[] {
    return this.#signed.flatMap(({ name, shards, early }) => {
      const atMs = this.#knownAtMs.get(name) ?? Number.POSITIVE_INFINITY
      return nowMs - atMs >= ms ? [...shards, ...early] : []
    })
  }

  /** Processes whose leases may be taken, with when their signs were seen to have ended: by us, so that our own sign has
   *  ended after theirs, if it has. */
  gone(nowMs: number): readonly GoneProcess[] {
    return this.#signed.flatMap((other) => {
      const endedAtMs = this.#seenAtMs.get(other.name)
      const isGone = endedAtMs !== undefined && nowMs - endedAtMs >= this.#policy.endedMs
      return isGone ? [{ ...other, endedAtMs }] : []
    })
  }

  /** When the next of them may be taken, or has been gone for so long. */
  nextGoneAtMs(ms: number, nowMs: number): number {
    const { endedMs } = this.#policy
    const times = [
      ...[...this.#seenAtMs.values()].map((endedAtMs) => endedAtMs + endedMs),
      ...[...this.#knownAtMs.values()].map((knownAtMs) => knownAtMs + ms),
    ]
    return Math.min(Number.POSITIVE_INFINITY, ...times.filter((atMs) => atMs > nowMs))
  }

  #know(name: string, atMs: number): void {
    this.#knownAtMs.set(name, Math.min(atMs, this.#knownAtMs.get(name) ?? atMs))
  }
}

function isHolding({ shards, early }: SignedProcess): boolean {
  return shards.length + early.length > 0
}
