// Keeps the sealer in step with the database: whether secrets are written under keys derived from the master key, and bound
// to the addresses that they are sent to. `paybell reseal` may begin either at any time. Once both are, they stay so; then
// the database is still looked at now and then, because someone may change there what says so.

import { RecurringTask } from '../core/plain/recurring-task.ts'
import { learnSealing } from '../operations/sealing/bind-addresses.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { setUnheldTimer } from '../operations/shared/timers.ts'

const ASKED_EVERY_MS = 10_000
const LOOKED_AT_EVERY_MS = 60_000

interface Log {
  error(details: object, message: string): void
}

export class SealingFormPolls {
  readonly #deps: Pick<Deps, 'pool' | 'sealer'>
  readonly #log: Log
  #isWrong = false
  readonly #polls = new RecurringTask(
    setUnheldTimer,
    () => (this.#deps.sealer.binding === 'done' ? LOOKED_AT_EVERY_MS : ASKED_EVERY_MS),
    // A database that is away is asked again; secrets written until then can be read by all versions.
    async () => void (await this.ask().catch(() => {})),
  )

  constructor(deps: Pick<Deps, 'pool' | 'sealer'>, log: Log) {
    this.#deps = deps
    this.#log = log
  }

  async start(): Promise<void> {
    await this.ask()
    this.#polls.start()
  }

  /** Nothing waits for the question that is under way: it changes nothing that a stop needs. */
  stop(): void {
    void this.#polls.stop()
  }

  /** Someone without the master key has changed how far binding is. It holds all the same. */
  get isWrong(): boolean {
    return this.#isWrong
  }

  async ask(): Promise<void> {
    const { binding, isWrong } = await learnSealing(this.#deps)
    if (isWrong && !this.#isWrong) this.#log.error({ binding }, 'sealing.mark-wrong')
    this.#isWrong = isWrong
  }
}
