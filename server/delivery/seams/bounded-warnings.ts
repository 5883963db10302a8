// The engine's log, bounded where something of our own fails over and over: while the database is away each
// delivery that is due fails every second, and would write a line each time. One line of a kind is written
// every ten seconds, with the number of warnings that it stands for.

import type { Clock } from '../../core/plain/clock.ts'
import type { EngineLog } from './environment.ts'

const EVERY_MS = 10_000
/** More kinds than these in ten seconds are one kind for each message. */
const KINDS_MAX = 30

interface Kind {
  writtenAtMs: number
  /** Of this kind since then. */
  count: number
}

export class BoundedWarnings implements EngineLog {
  readonly #log: EngineLog
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #kinds = new Map<string, Kind>()

  constructor(log: EngineLog, clock: Pick<Clock, 'monotonicMs'>) {
    this.#log = log
    this.#clock = clock
  }

  info(fields: object, message: string): void {
    this.#log.info(fields, message)
  }

  /** A warning with an `error` is a failure of our own, and bounded; any other is written each time. */
  warn(fields: object, message: string): void {
    if (!('error' in fields)) {
      this.#log.warn(fields, message)
      return
    }
    const nowMs = this.#clock.monotonicMs()
    const kind = this.#kindOf(`${message} ${fields.error}`, message, nowMs)
    kind.count++
    if (nowMs - kind.writtenAtMs < EVERY_MS) return
    this.#log.warn(kind.count === 1 ? fields : { ...fields, count: kind.count }, message)
    kind.writtenAtMs = nowMs
    kind.count = 0
  }

  #kindOf(name: string, message: string, nowMs: number): Kind {
    const earlier = this.#kinds.get(name)
    if (earlier !== undefined) return earlier
    if (this.#kinds.size >= KINDS_MAX) this.#forgetOld(nowMs)
    const rest = this.#kinds.get(message)
    if (this.#kinds.size >= KINDS_MAX && rest !== undefined) return rest
    const kind = { writtenAtMs: Number.NEGATIVE_INFINITY, count: 0 }
    this.#kinds.set(this.#kinds.size >= KINDS_MAX ? message : name, kind)
    return kind
  }

  #forgetOld(nowMs: number): void {
    for (const [name, { writtenAtMs }] of this.#kinds) {
      if (nowMs - writtenAtMs >= EVERY_MS) this.#kinds.delete(name)
    }
  }
}
