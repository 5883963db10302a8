// Which faults there were, when, and whom they met: the checker excuses nothing else.

import type { FaultAct } from '../simulator/records.ts'

export class FaultLog {
  readonly acts: FaultAct[] = []
  readonly counts = new Map<string, number>()
  readonly #open = new Set<FaultAct>()

  /** One that excuses nothing. */
  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Returns the function that ends it. */
  begin(what: string, kind: FaultAct['kind'], node: string | null): () => void {
    this.count(what)
    const act: FaultAct = { kind, node, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY }
    this.acts.push(act)
    this.#open.add(act)
    return () => {
      if (this.#open.delete(act)) act.untilMs = Date.now()
    }
  }

  /** Over already when it is noticed: a loop that was held up. */
  note(what: string, kind: FaultAct['kind'], node: string | null, ms: number): void {
    this.begin(what, kind, node)()
    const act = this.acts.at(-1) as FaultAct
    act.fromMs -= ms
  }
}
