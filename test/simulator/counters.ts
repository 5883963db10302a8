// What must happen sometimes: a simulation in which none of a kind ever comes up is dead, however
// green it is.

export const SOMETIMES = [
  'shard taken over',
  'stale record refused',
  'commit unknown',
  'exhausted at 7 d',
  'order wait',
  'superseded after patience',
  'superseded by the latest',
  'late answer ahead of an older update',
  'lost answer ahead of an older update',
  'breaker open',
  'rotation overlap',
  'paused and resumed',
  'duplicate after crash',
  'send declined for want of lease',
  'parked and refilled',
  'replay',
  'retry',
  'retry of an endpoint that is down',
  'retry during an attempt',
  'cancel of what holds others back',
  'recovery of several updates',
  'endpoint deleted while in flight',
  'database clock jumps by minutes',
  'process frozen as it sends, beyond its lease',
  'process frozen, and its session cut',
  'shard taken over early',
  'shard taken over after a second death',
  'machine asleep beyond its lease',
  'machine paused beyond its lease',
  'gathered changes',
  'payment busy',
  'payment waited for',
  'wait for a payment over',
  'idle transaction ended',
  'change refused by the database',
  'commit of a write unknown',
  'update that is not heard',
] as const

export class Counters {
  readonly counts = new Map<string, number>()

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }

  add(others: Counters): void {
    for (const [what, by] of others.counts) this.count(what, by)
  }

  /** Those that never came up. */
  get missing(): string[] {
    return SOMETIMES.filter((what) => !this.counts.get(what))
  }

  table(): string {
    const others = [...this.counts.keys()]
      .filter((what) => !(SOMETIMES as readonly string[]).includes(what))
      .sort()
    return [...SOMETIMES, ...others]
      .map((what) => `  ${what.padEnd(44)} ${String(this.counts.get(what) ?? 0).padStart(9)}`)
      .join('\n')
  }
}
