// The service processes of a run: three of them on one database, each through a proxy of its own, and
// started again whenever they end.

import { limitOf } from '../support/busy-machine.ts'
import { Child, type Exit } from './children.ts'
import type { FaultLog } from './fault-log.ts'
import type { DatabaseProxy } from './proxy.ts'
import type { FromService, ServiceOrder, ToService } from './service.ts'

const READY_MS_MAX = 20_000

export class Service {
  readonly name: string
  readonly proxy: DatabaseProxy
  /** Null while it starts, or is down. */
  baseUrl: string | null = null
  readonly #order: ServiceOrder
  readonly #faults: FaultLog
  #child: Child | null = null
  #onReady: (() => void) | null = null
  #isEnding = false
  /** Unexpected ends of processes that had begun to serve. */
  readonly ownEnds: string[] = []

  constructor(name: string, proxy: DatabaseProxy, order: ServiceOrder, faults: FaultLog) {
    this.name = name
    this.proxy = proxy
    this.#order = order
    this.#faults = faults
  }

  /** It connects from there, where it is known. */
  get address(): string | null {
    return this.#order.address
  }

  get isReady(): boolean {
    return this.baseUrl !== null && this.#child?.isRunning === true
  }

  /** Resolves when it listens; a start that does not succeed in time is repeated by the caller. */
  async start(clockShiftMs = 0): Promise<void> {
    let isReady = false
    const ready = new Promise<void>((resolve) => {
      this.#onReady = () => {
        isReady = true
        resolve()
      }
    })
    const child = new Child(
      {
        file: 'service.ts',
        env: {
          CHAOS_SERVICE: JSON.stringify(this.#order),
          CHAOS_CLOCK_SHIFT_MS: String(clockShiftMs),
        },
        ...(clockShiftMs === 0 ? {} : { preload: './shifted-clock.ts' }),
      },
      (message) => this.#hear(message as FromService),
    )
    this.#child = child
    this.#isEnding = false
    const ended = child.exit.then((exit) => {
      if (this.#child === child) this.baseUrl = null
      if (!this.#isEnding && isReady)
        this.ownEnds.push(`${this.name} ended with ${exit}:\n${child.stderr}`)
      throw new Error(`${this.name} ended with ${exit} before it was ready:\n${child.stderr}`)
    })
    const timer = setTimeout(() => child.signal('SIGKILL'), limitOf(READY_MS_MAX))
    try {
      await Promise.race([ready, ended])
    } finally {
      clearTimeout(timer)
      ended.catch(() => {})
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal)
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.baseUrl = null
    this.#isEnding = true
    this.#child?.signal(signal)
    return (await this.#child?.exit) ?? null
  }

  beBusy(ms: number): void {
    this.#child?.send({ kind: 'be busy', ms } satisfies ToService)
  }

  #hear(message: FromService): void {
    if (message.kind === 'ready') {
      this.baseUrl = message.baseUrl
      this.#onReady?.()
    } else {
      this.#faults.note('held up', 'stall', this.name, message.ms)
    }
  }
}
