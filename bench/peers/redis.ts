// Redis for BullMQ, as Debian ships it: started if it is on the PATH, on a free port and with a folder
// of its own; otherwise the cells that need it are left out.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuSeconds } from '../harness/cpu.ts'
import { freePort, isOpen } from '../harness/ports.ts'

export type Fsync = 'always' | 'everysec'

/** Such as 7.0.15; null where it is not installed. */
export function findRedis(): string | null {
  const { stdout, error } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return error ? null : (/v=([\d.]+)/.exec(stdout)?.[1] ?? null)
}

export class Redis {
  readonly port: number
  readonly pid: number
  readonly #process: ChildProcess
  readonly #dir: string

  private constructor(child: ChildProcess, port: number, dir: string) {
    this.#process = child
    this.pid = child.pid as number
    this.port = port
    this.#dir = dir
  }

  static async start(fsync: Fsync): Promise<Redis> {
    const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-redis-'))
    const port = await freePort()
    const child = spawn(
      'redis-server',
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
        ...['--appendonly', 'yes', '--appendfsync', fsync, '--maxmemory-policy', 'noeviction'],
      ],
      { stdio: 'ignore' },
    )
    for (let tries = 0; !(await isOpen(port)); tries++) {
      if (tries > 200) throw new Error('redis-server did not start')
      await delay(25)
    }
    return new Redis(child, port, dir)
  }

  cpuSeconds(): number {
    return cpuSeconds(this.pid)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM')
      await once(this.#process, 'exit')
    }
    await rm(this.#dir, { recursive: true, force: true })
  }
}
