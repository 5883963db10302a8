// The database's own clock, which jumps: libfaketime under PostgreSQL, with an offset in a file that every
// process of it reads each time it asks for the time. Which offset held when is noted, because rows tell the
// database's time and receivers the true one. In a signal handler it gives the true time: where the clock is ahead,
// PostgreSQL ends deadlocks and statements that take too long as much later, and where it is behind, too early.

import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Owner } from '../support/owner.ts'

/** Where Debian and others put it. */
export const LIBFAKETIME = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib64/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
]

/** Until every process, and one that is held up, reckons with the new time. */
const NOTICED_MS = 10_000

export class ClockJumps {
  readonly #library: string
  readonly #dir: string
  /** From when on which offset held. */
  readonly #offsets: { fromMs: number; offsetMs: number }[] = []

  private constructor(library: string, dir: string) {
    this.#library = library
    this.#dir = dir
  }

  /** Null where libfaketime is not installed. */
  static async find(owner: Owner): Promise<ClockJumps | null> {
    const library = LIBFAKETIME.find((path) => existsSync(path))
    if (library === undefined) return null
    const dir = await mkdtemp(join(tmpdir(), 'pb-clock-'))
    owner.after(() => rm(dir, { recursive: true, force: true }))
    // Started by root, PostgreSQL runs as another user.
    await chmod(dir, 0o755)
    const clock = new ClockJumps(library, dir)
    await clock.jumpTo(0)
    return clock
  }

  /** For the server alone: wall clocks jump, monotonic ones and the times of files do not. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
      NO_FAKE_STAT: '1',
    }
  }

  async jumpTo(offsetMs: number): Promise<void> {
    const seconds = (offsetMs / 1_000).toFixed(3)
    await writeFile(`${this.#file}.next`, `${offsetMs < 0 ? '' : '+'}${seconds}\n`, { mode: 0o644 })
    await rename(`${this.#file}.next`, this.#file)
    this.#offsets.push({ fromMs: Date.now(), offsetMs })
  }

  /** How far an instant of a row is from a true one, by whichever of the offsets of late is nearest. */
  distanceMs(trueMs: number, rowMs: number): number {
    const begun = this.#offsets.filter(({ fromMs }) => fromMs <= trueMs + NOTICED_MS)
    const oldest = begun.findLastIndex(({ fromMs }) => fromMs <= trueMs - NOTICED_MS)
    const ofLate = begun.slice(Math.max(0, oldest))
    return Math.min(...ofLate.map(({ offsetMs }) => Math.abs(trueMs + offsetMs - rowMs)))
  }

  get #file(): string {
    return join(this.#dir, 'offset')
  }
}
