// A real nats-server with JetStream on loopback, where the machine has one: its own port, its own folder,
// ended by its pid. Where there is none, tests say so and are skipped.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

export function findNatsServer(): string | null {
  for (const path of [
    '/usr/sbin/nats-server',
    '/usr/local/bin/nats-server',
    '/usr/bin/nats-server',
  ]) {
    if (existsSync(path)) return path
  }
  try {
    return execFileSync('which', ['nats-server'], { encoding: 'utf8' }).trim() || null
  } catch {
    return null
  }
}

export class NatsServer {
  readonly port: number
  readonly #binary: string
  readonly #dir: string
  #process: ChildProcess | null = null

  constructor(binary: string, port: number, dir: string) {
    this.#binary = binary
    this.port = port
    this.#dir = dir
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    this.#process = spawn(
      this.#binary,
      ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.#dir],
      { stdio: 'ignore' },
    )
    await until('nats-server answers', () => answers(this.port))
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    // One that is frozen hears nothing else.
    child.kill('SIGCONT')
    await exit
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name)
  }
}

export async function startNatsServer(t: Owner, binary: string): Promise<NatsServer> {
  const dir = await mkdtemp(join(memoryDir(), 'paybell-nats-'))
  const server = new NatsServer(binary, await freePort(), dir)
  t.after(async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })
  await server.start()
  return server
}

/**
 * Memory where there is some, so that a broker waits for no disk. Once, beside other files, one answered nothing for the
 * rest of its file, and why is not known: small syncs beside 3 GB of unsynced writes took 20 ms at most here.
 */
function memoryDir(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}

/** JetStream is ready a moment after the port: the greeting tells. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', (chunk) => {
      socket.destroy()
      resolve(chunk.includes('"jetstream":true'))
    })
    socket.once('error', () => resolve(false))
  })
}
