// Keeps the sealer in step with the database: whether secrets are written under keys derived from the master
// key. Once they are, they stay so; until then the database is polled, because `paybell reseal` may begin it
// at any time.

import { RecurringTask } from '../core/plain/recurring-task.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { setUnheldTimer } from '../operations/shared/timers.ts'
import { readSealingForm } from '../store/secrets/sealing-form.ts'

const ASKED_EVERY_MS = 10_000

export class SealingFormPolls {
  readonly #deps: Pick<Deps, 'pool' | 'sealer'>
  readonly #polls = new RecurringTask(
    setUnheldTimer,
    () => ASKED_EVERY_MS,
    // A database that is away is asked again; secrets written until then can be read by all versions.
    async () => void (await this.ask().catch(() => false)),
  )

  constructor(deps: Pick<Deps, 'pool' | 'sealer'>) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    if (await this.ask()) return
    this.#polls.start()
  }

  /** Nothing waits for the question that is under way: it changes nothing that a stop needs. */
  stop(): void {
    void this.#polls.stop()
  }

  /** True when polling can end. */
  async ask(): Promise<boolean> {
    const { isDerived } = await readSealingForm(this.#deps.pool)
    if (!isDerived) return false
    this.#deps.sealer.writeDerived()
    this.stop()
    return true
  }
}
