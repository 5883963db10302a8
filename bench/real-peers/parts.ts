// What a real peer runs on: a fresh PostgreSQL, and Redis and RabbitMQ where it needs them, gone when it stops.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BenchDatabase } from '../harness/database.ts'
import type { RunningSystem } from '../harness/system.ts'
import { Redis } from '../peers/redis.ts'
import type { Binary } from './binary.ts'
import { Rabbit } from './rabbit.ts'

/** Their pools are larger than ours. */
const CONNECTIONS_MAX = 400

export class Parts {
  readonly dir: string
  readonly database: BenchDatabase
  readonly redis: Redis
  readonly rabbit: Rabbit | null
  readonly #binaries: Binary[] = []

  private constructor(dir: string, database: BenchDatabase, redis: Redis, rabbit: Rabbit | null) {
    this.dir = dir
    this.database = database
    this.redis = redis
    this.rabbit = rabbit
  }

  /** Whatever fails in `set`, nothing is left running. */
  static async start(
    needs: { hasRabbit: boolean },
    set: (
      parts: Parts,
    ) => Promise<Pick<RunningSystem, 'baseUrl' | 'operatorKey' | 'accountIds' | 'dialect'>>,
  ): Promise<RunningSystem> {
    const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-peer-'))
    const parts = new Parts(
      dir,
      await BenchDatabase.start(false, { maxConnections: CONNECTIONS_MAX, isOnTcp: true }),
      await Redis.start('everysec'),
      needs.hasRabbit ? await Rabbit.start(dir) : null,
    )
    try {
      return parts.#running(await set(parts))
    } catch (error) {
      await parts.stop()
      throw error
    }
  }

  /** For clients that would ask for TLS. */
  get plainUrl(): string {
    return `${this.database.url}?sslmode=disable`
  }

  add(binary: Binary): Binary {
    this.#binaries.push(binary)
    return binary
  }

  async stop(): Promise<void> {
    for (const binary of this.#binaries.toReversed()) await binary.stop()
    await this.rabbit?.stop()
    await this.redis.stop()
    await this.database.stop()
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }

  #running(
    set: Pick<RunningSystem, 'baseUrl' | 'operatorKey' | 'accountIds' | 'dialect'>,
  ): RunningSystem {
    const sum = (parts: readonly { cpuSeconds(): number }[]) =>
      parts.reduce((total, part) => total + part.cpuSeconds(), 0)
    return {
      ...set,
      pids: this.#binaries.map(({ pid }) => pid),
      database: this.database,
      cpuSeconds: () => ({
        service: sum(this.#binaries),
        store: sum([this.database, this.redis, ...(this.rabbit === null ? [] : [this.rabbit])]),
      }),
      // Their records may come later than the callback: the clock ends at the last arrival, in their favour.
      isSettled: async () => true,
      stop: () => this.stop(),
    }
  }
}
