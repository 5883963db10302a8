// The PostgreSQL that comes with Paybell: a real server in `<data dir>/pg`, started and stopped with
// the program. Never two servers on one data directory, never a committed row lost, and nothing
// left running after stop().
import { mkdir, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findDurabilityFaults } from '../store/schema/durability.ts'
import { findBinaries, reachableBinaries } from './binaries.ts'
import { clusterDirOf, openCluster } from './cluster.ts'
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts'
import { endProcessesIn, removeStalePidFile } from './leftovers.ts'
import type { Log } from './log.ts'
import {
  type LaunchPlan,
  launchPostmaster,
  type Postmaster,
  type PostmasterExit,
} from './postmaster.ts'
import { chooseRunAs, giveToOwnerOf } from './run-as.ts'
import { makeRunDir, removeRunDir } from './run-dir.ts'
import { openServerLog, type ServerLog } from './server-log.ts'
import {
  connectionUrl,
  type Listening,
  type ServerSettings,
  serverArguments,
} from './server-settings.ts'

export interface EmbeddedOptions extends ServerSettings {
  dataDir: string
  log: Log
  /** For programs that take no socket. */
  isOnTcp?: boolean | undefined
  /** The server ended unasked: call restart(), or use superviseEmbedded. */
  onExit?: ((exit: PostmasterExit) => void) | undefined
  /** Default: 5 minutes, since a crash may leave gigabytes of WAL to replay. */
  readyTimeoutMs?: number | undefined
  /** A throw-away cluster for tests: made without waiting for the disk. */
  ephemeral?: boolean | undefined
  /** Added to the server's environment, which has nothing of the caller's: for tests. */
  environment?: Readonly<Record<string, string>> | undefined
}

export interface EmbeddedDatabase {
  /** For `pg`; stays the same across restarts, not across starts. */
  url: string
  /** For example 18.4. */
  version: string
  pid: number | undefined
  startedInMs: number
  /** A new cluster, one that was stopped in order, or one that a crash has left. */
  tookOver: 'fresh' | 'clean' | 'recovered'
  /** Starts the server again under the same url. Fails like the first start, and after stop(). */
  restart(): Promise<void>
  /** Aborted as soon as stop() is called. */
  stopping: AbortSignal
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 300_000

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const startedAt = performance.now()
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 })
  const dataDir = await realpath(options.dataDir)
  const server = new EmbeddedServer(options, dataDir, await lockDataDir(dataDir))
  try {
    await server.start()
  } catch (error) {
    await server.stop().catch(() => {}) // The first error is the one to report.
    throw error
  }
  server.startedInMs = Math.round(performance.now() - startedAt)
  const { tookOver, startedInMs, version, pid } = server
  options.log({ msg: 'embedded.started', dataDir, version, pid, tookOver, startedInMs })
  return server
}

class EmbeddedServer implements EmbeddedDatabase {
  url = ''
  version = ''
  startedInMs = 0
  tookOver: EmbeddedDatabase['tookOver'] = 'clean'
  readonly #options: EmbeddedOptions
  readonly #dataDir: string
  readonly #lock: DataDirLock
  readonly #stopping = new AbortController()
  #serverLog: ServerLog | undefined
  #plan: LaunchPlan | undefined
  #postmaster: Postmaster | undefined
  #lastWork: Promise<unknown> = Promise.resolve()
  #stopped: Promise<void> | undefined

  constructor(options: EmbeddedOptions, dataDir: string, lock: DataDirLock) {
    this.#options = options
    this.#dataDir = dataDir
    this.#lock = lock
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  get pid(): number | undefined {
    return this.#postmaster?.pid
  }

  async start(): Promise<void> {
    const clusterDir = clusterDirOf(this.#dataDir)
    const foundRunning = await endProcessesIn(clusterDir, this.#options.log)
    const runAs = await chooseRunAs(this.#dataDir, clusterDir)
    const runDir = await makeRunDir(this.#dataDir, runAs)
    const binaries = reachableBinaries(await findBinaries(), runAs, runDir)
    const sync = this.#options.ephemeral !== true
    const tools = { dataDir: this.#dataDir, runDir, runAs, binaries, sync }
    const { password, state } = await openCluster(tools)
    this.#serverLog = await openServerLog(this.#dataDir)
    await giveToOwnerOf(this.#dataDir, ['lock', 'pg.log'])
    const listening = await chooseListening(runDir, this.#options.isOnTcp)
    this.url = connectionUrl(listening, password)
    this.tookOver = foundRunning || state === 'crashed' ? 'recovered' : state
    this.#plan = {
      ...{ clusterDir, runDir, runAs, binaries, serverLog: this.#serverLog },
      arguments: serverArguments(this.#options, listening, memoryBytes()),
      readyTimeoutMs: this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS,
      environment: this.#options.environment ?? {},
      signal: this.#stopping.signal,
    }
    await this.#launch(this.#plan)
    await this.#inspect()
    this.#watch()
  }

  restart(): Promise<void> {
    return this.#oneAtATime(async () => {
      if (this.#stopping.signal.aborted) throw new Error('The embedded database has been stopped')
      await this.#end()
      if (this.#plan) await this.#launch(this.#plan)
      this.#watch()
    })
  }

  stop(): Promise<void> {
    this.#stopping.abort()
    this.#stopped ??= this.#oneAtATime(async () => {
      await this.#end()
      await removeRunDir(this.#dataDir)
      await this.#serverLog?.close()
      await this.#lock.release()
      this.#options.log({ msg: 'embedded.stopped', dataDir: this.#dataDir })
    })
    return this.#stopped
  }

  async #launch(plan: LaunchPlan): Promise<void> {
    await endProcessesIn(plan.clusterDir, this.#options.log)
    await removeStalePidFile(plan.clusterDir, this.#options.log)
    await rm(join(plan.runDir, '.s.PGSQL.5432.lock'), { force: true })
    this.#postmaster = await launchPostmaster(plan)
  }

  // Called only once a start has succeeded: until then the start itself fails, and onExit is not called.
  #watch(): void {
    const postmaster = this.#postmaster
    void postmaster?.exited.then((exit) => {
      if (this.#postmaster !== postmaster) return // It was we who ended it.
      this.#postmaster = undefined
      this.#options.log({ msg: 'embedded.died', pid: postmaster.pid, ...exit })
      this.#options.onExit?.(exit)
    })
  }

  async #end(): Promise<void> {
    const postmaster = this.#postmaster
    this.#postmaster = undefined
    await postmaster?.stop()
    await endProcessesIn(clusterDirOf(this.#dataDir), this.#options.log)
  }

  /** The first query: reads the version, and checks that durability is on. */
  async #inspect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url })
    client.on('error', () => {}) // A server that dies now fails the query, and so the start.
    await client.connect()
    try {
      const { rows } = await client.query('show server_version')
      this.version = rows[0].server_version
      const faults = this.#options.unsafeThrowAwayForTests ? [] : await findDurabilityFaults(client)
      if (faults.length > 0) throw new Error(`The embedded database: ${faults.join('; ')}`)
    } finally {
      await client.end()
    }
  }

  // Start, restart and stop never overlap; a failed one does not hinder the next.
  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastWork.then(work)
    this.#lastWork = result.catch(() => {})
    return result
  }
}

async function chooseListening(runDir: string, isOnTcp = false): Promise<Listening> {
  if (process.platform !== 'win32' && !isOnTcp) return { kind: 'socket', dir: runDir }
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return { kind: 'tcp', port }
}

/** Inside a container the container's limit counts, not the memory of the machine. */
function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
