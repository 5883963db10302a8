// The metrics of all serving processes, joined by their parent. One that does not answer in time counts as when it last did;
// one that is gone, by what it had counted when it was last asked, or as it said at its end.

import { type Figures, joinCounted, joinFigures } from '../../../server/telemetry/joined-figures.ts'
import type { ServingProcess } from './serving-process.ts'

export class AllFigures {
  readonly #latest = new Map<ServingProcess, Figures>()
  /** Counted by those that are gone; one after the other, so that none is left out. */
  #counted: Promise<Figures> = Promise.resolve([])

  async text(processes: Iterable<ServingProcess>): Promise<string> {
    await Promise.all(
      Array.from(processes, async (one) => {
        const figures = await one.giveFigures()
        if (figures !== null) this.#latest.set(one, figures)
      }),
    )
    return joinFigures([await this.#counted, ...this.#latest.values()])
  }

  forget(one: ServingProcess): void {
    const last = one.lastFigures ?? this.#latest.get(one)
    this.#latest.delete(one)
    if (last === undefined) return
    // Figures that cannot be joined, of another version perhaps, do not take the others with them.
    this.#counted = this.#counted.then((counted) =>
      joinCounted([counted, last]).catch(() => counted),
    )
  }
}
