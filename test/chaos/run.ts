// One chaos run from an empty folder to the verdict: database, receivers, services, endpoints; a calm
// beginning, the nemesis, a drain without faults; then the evidence is read and judged.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Dice } from '../simulator/dice.ts'
import type { Limits, RunRecord } from '../simulator/records.ts'
import { limitOf } from '../support/busy-machine.ts'
import { Api } from './api.ts'
import { type Broker, startBrokers } from './broker.ts'
import { Child } from './children.ts'
import { ClockJumps } from './clock-jumps.ts'
import { ChaosDatabase } from './database.ts'
import { Endpoints } from './endpoints.ts'
import { readDueNow, readStored, toRunRecord } from './evidence.ts'
import { FaultLog } from './fault-log.ts'
import { type BrokerFeed, FEED_NAMES, type FedWrite, type Feed } from './feeds.ts'
import { Nemesis } from './nemesis.ts'
import { ownAddress } from './own-address.ts'
import { DatabaseProxy } from './proxy.ts'
import type { FromReceivers, ReceivedLine, ReceiversOrder, ToReceivers } from './receivers.ts'
import type { ServiceOrder } from './service.ts'
import { Service } from './services.ts'
import { disableAfterMs, limitsOf, type Suite } from './settings.ts'
import { SqlFeed } from './sql-feed.ts'
import { readLines, SyncedLog } from './synced-log.ts'
import { judge, type Verdict } from './verdict.ts'
import { Writer } from './writer.ts'

export interface ChaosOptions {
  suite: Suite
  seed: number
  logLevel?: string
  /** The folder with all logs stays, and what the verdict was made of. */
  isKept?: boolean | 'after violations'
  onNote?: (line: string) => void
  /** Ends the run early, everything cleaned up. */
  signal?: AbortSignal
}

/** A part of the whole that this machine has not what is needed for. */
export type Missing = BrokerFeed | 'clock'

export interface ChaosResult {
  suite: Suite
  dir: string
  seed: number
  run: RunRecord
  verdict: Verdict
  faults: ReadonlyMap<string, number>
  control: ReadonlyMap<string, number>
  feeds: ReadonlyMap<Feed, number>
  /** What was left out, and why. */
  missing: ReadonlyMap<Missing, string>
  notes: readonly { atMs: number; text: string }[]
  refusals: number
  paths: ReadonlyMap<string, string>
  shards: ReadonlyMap<string, number>
  drainedInMs: number
  tookMs: number
  repeatWith: string
}

const SERVICES = 3
const HELD_MS = 150
/** What rolling restarts take where nothing else is going on. */
const RESTARTS_MS = 40_000

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const cleanUps: (() => Promise<unknown> | unknown)[] = []
  const dir = await mkdtemp(join(tmpdir(), 'pb-chaos-'))
  let isKept = options.isKept === true
  if (isKept) options.onNote?.(`everything is kept in ${dir}`)
  cleanUps.push(async () => {
    if (!isKept) await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const aborted = new Promise<never>((_resolve, reject) => {
    options.signal?.addEventListener('abort', () => reject(new Error('the run was ended early')))
  })
  aborted.catch(() => {})
  const performed = new Run(options, dir, cleanUps).perform()
  performed.catch(() => {})
  try {
    const result = await Promise.race([performed, aborted])
    isKept ||= options.isKept === 'after violations' && result.verdict.violations.length > 0
    return result
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp()
  }
}

class Run {
  readonly #options: ChaosOptions
  readonly #dir: string
  readonly #cleanUps: (() => Promise<unknown> | unknown)[]
  readonly #faults = new FaultLog()
  readonly #notes: { atMs: number; text: string }[] = []
  readonly #startedAtMs = Date.now()
  #nemesis: Nemesis | null = null
  /** How many times longer than on an idle machine things took, at worst. */
  #slowness = 1

  constructor(options: ChaosOptions, dir: string, cleanUps: (() => Promise<unknown> | unknown)[]) {
    this.#options = options
    this.#dir = dir
    this.#cleanUps = cleanUps
  }

  async perform(): Promise<ChaosResult> {
    const { suite, seed } = this.#options
    this.#watchOurselves()
    const owner = { after: (run: () => Promise<void> | void) => void this.#cleanUps.push(run) }
    const { brokers, missing: missingBrokers } = await startBrokers(suite, owner)
    for (const [feed, why] of missingBrokers) this.#note(`without ${FEED_NAMES[feed]}: ${why}`)
    const clock = suite.clockJumps ? await ClockJumps.find(owner) : null
    const missing = new Map<Missing, string>(missingBrokers)
    if (suite.clockJumps && clock === null) {
      missing.set('clock', 'libfaketime is not installed')
      this.#note("libfaketime is not installed: the database's clock does not jump")
    }
    const database = await ChaosDatabase.start(join(this.#dir, 'data'), clock)
    this.#cleanUps.push(() => database.stop())
    this.#cleanUps.push(
      database.probe(HELD_MS, (ms) => this.#faults.note('database slow', 'store', null, ms)),
    )
    const operatorKey = randomBytes(32).toString('base64url')
    const [receiversPort, services] = await Promise.all([
      this.#startReceivers(),
      this.#startServices(database, operatorKey, brokers),
    ])
    const api = new Api(services, new Dice(seed, 1))
    this.#cleanUps.push(() => {
      api.isGivenUp = true
    })
    await api.makeClient(operatorKey)
    const endpoints = new Endpoints(api, new Dice(seed, 2), receiversPort)
    await endpoints.registerAll()
    const writesLog = await SyncedLog.open(this.#file('writes.log'))
    this.#cleanUps.push(() => writesLog.close())
    const sql = new SqlFeed(database, api.accountId)
    const writer = new Writer({ api, sql, brokers }, suite, new Dice(seed, 3), writesLog)
    this.#cleanUps.push(() => {
      for (const way of [api, sql, ...brokers]) way.isGivenUp = true
      return writer.abandon()
    })
    const note = (text: string) => this.#note(text)
    const arena = { services, database, endpoints, brokers, clock, faults: this.#faults, note }
    const nemesis = new Nemesis(arena, suite, seed)
    this.#nemesis = nemesis

    const onIdleMachineMs = suite.calmMs + suite.seconds * 1_000 + RESTARTS_MS
    writer.start(suite.writesPerSecond, (suite.writesPerSecond * onIdleMachineMs) / 1_000)
    await sleep(suite.calmMs)
    note('the calm is over')
    await nemesis.rage(suite.seconds * 1_000)
    await writer.stop()
    note('the faults are over')
    const faultsEndedAtMs = Date.now()
    const dueAtFaultsEnd = await database.ask(readDueNow)
    const isDrained = await this.#drain(database, brokers, faultsEndedAtMs)
    const drainedInMs = Date.now() - faultsEndedAtMs
    const endedAtMs = Date.now()
    const stops = [...nemesis.stops]
    for (const { node, ...stop } of await Promise.all(services.map(stopForGood))) {
      stops.push({ node, ...stop })
    }

    const stored = await database.ask(readStored)
    const writes = await readLines<FedWrite>(this.#file('writes.log'))
    const run = toRunRecord({
      limits: this.#limits(),
      writes,
      clock,
      received: await readLines<ReceivedLine>(this.#file('receivers.log')),
      nodes: new Map(services.map(({ address, name }) => [address, name])),
      known: endpoints.all,
      stored,
      replays: [],
      faults: this.#faults.acts,
      dueAtFaultsEnd,
      faultsEndedAtMs,
      endedAtMs,
    })
    const shards = new Map(stored.endpoints.map(({ id, shard }) => [id, shard]))
    if (this.#options.isKept) {
      const kept = { run, stored, notes: this.#notes, kills: nemesis.kills, stops }
      await writeFile(this.#file('evidence.json'), JSON.stringify(kept))
    }
    const verdict = judge(run, {
      kills: nemesis.kills,
      stops,
      ownEnds: services.flatMap(({ ownEnds }) => ownEnds),
      oddAnswers: api.oddAnswers,
      endpoints: endpoints.all,
      statuses: stored.statuses,
      shards,
      isDrained,
      disableAfterMs: disableAfterMs(suite),
      drainedInMs,
      writes,
      references: stored.references,
    })
    const byFeed = Map.groupBy(writes, ({ feed }) => feed)
    return {
      suite,
      dir: this.#dir,
      seed,
      run,
      verdict,
      faults: this.#faults.counts,
      control: endpoints.counts,
      feeds: new Map([...byFeed].map(([feed, of]) => [feed, of.length])),
      missing,
      notes: this.#notes,
      refusals: api.refusals,
      paths: new Map(endpoints.all.map(({ id, path }) => [id, path])),
      shards,
      drainedInMs,
      tookMs: Date.now() - this.#startedAtMs,
      repeatWith: `--suite ${suite.name} --seed ${seed} --seconds ${suite.seconds} --${suite.clockJumps ? '' : 'no-'}clock-jumps`,
    }
  }

  async #startReceivers(): Promise<number> {
    const order: ReceiversOrder = {
      seed: this.#options.seed,
      logFile: this.#file('receivers.log'),
    }
    let receivers: Child | null = null
    const port = await new Promise<number>((resolve) => {
      receivers = new Child(
        { file: 'receivers.ts', env: { CHAOS_RECEIVERS: JSON.stringify(order) } },
        (message) => {
          const heard = message as FromReceivers
          if (heard.kind === 'ready') resolve(heard.port)
          else if (heard.kind === 'held') {
            this.#faults.note('receivers held up', 'stall', null, heard.ms)
          } else void this.#answerReport(receivers as Child, heard)
        },
      )
    })
    this.#cleanUps.push(async () => {
      receivers?.signal('SIGKILL')
      await receivers?.exit
    })
    return port
  }

  async #answerReport(receivers: Child, report: { ticket: number; path: string }): Promise<void> {
    await this.#nemesis?.onReport(report.path).catch(() => {})
    receivers.send({ kind: 'go', ticket: report.ticket } satisfies ToReceivers)
  }

  async #startServices(
    database: ChaosDatabase,
    operatorKey: string,
    brokers: readonly Broker[],
  ): Promise<Service[]> {
    const masterKey = randomBytes(32).toString('base64')
    const services: Service[] = []
    for (let n = 1; n <= SERVICES; n++) {
      const name = `s${n}`
      const socketDir = join(this.#dir, name)
      await mkdir(socketDir, { recursive: true })
      const proxy = new DatabaseProxy(database.socketDir)
      await proxy.listen(socketDir)
      const order: ServiceOrder = {
        suite: this.#options.suite,
        address: ownAddress(n),
        databaseUrl: database.urlVia(socketDir, name),
        masterKey,
        operatorKey,
        logFile: this.#file(`${name}.log`),
        logLevel: this.#options.logLevel ?? 'silent',
        settings: Object.assign({}, ...brokers.map(({ settings }) => settings)),
      }
      const service = new Service(name, proxy, order, this.#faults)
      services.push(service)
      this.#cleanUps.push(async () => {
        await service.end('SIGKILL')
        await proxy.close()
      })
    }
    await Promise.all(services.map((service) => service.start()))
    return services
  }

  /** Until no broker has anything left, and nothing is pending but what waits for an endpoint that the
   *  service has disabled. */
  async #drain(
    database: ChaosDatabase,
    brokers: readonly Broker[],
    sinceMs: number,
  ): Promise<boolean> {
    while (Date.now() < sinceMs + limitOf(this.#options.suite.drainMsMax)) {
      const areEmpty = await Promise.all(brokers.map((broker) => broker.isEmpty()))
      if (areEmpty.includes(false)) {
        await sleep(200)
        continue
      }
      const { rows } = await database.ask((client) =>
        client.query<{ count: number }>(`select count(*)::int from paybell.pending_deliveries d
          join paybell.endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
          where e.status = 'ACTIVE'`),
      )
      if (rows[0]?.count === 0) return true
      await sleep(200)
    }
    return false
  }

  /** What is promised within a time takes longer where other programs want the processors, too. */
  #limits(): Limits {
    const limits = limitsOf(this.#options.suite)
    return { ...limits, rescueMsMax: limits.rescueMsMax * this.#slowness }
  }

  /** All connections to the database lead through this process: when it is held up, so are all services. */
  #watchOurselves(): void {
    let lookedAtMs = performance.now()
    const timer = setInterval(() => {
      const nowMs = performance.now()
      this.#slowness = Math.max(this.#slowness, limitOf(1_000) / 1_000)
      if (nowMs - lookedAtMs > HELD_MS) {
        this.#faults.note('harness held up', 'partition', null, nowMs - lookedAtMs)
      }
      lookedAtMs = nowMs
    }, 20)
    this.#cleanUps.push(() => clearInterval(timer))
  }

  #note(text: string): void {
    const atMs = Date.now()
    this.#notes.push({ atMs, text })
    this.#options.onNote?.(`${((atMs - this.#startedAtMs) / 1_000).toFixed(1)} s  ${text}`)
  }

  #file(name: string): string {
    return join(this.#dir, name)
  }
}

async function stopForGood(service: Service) {
  const atMs = Date.now()
  const exit = await service.end('SIGTERM')
  return { node: service.name, atMs, tookMs: Date.now() - atMs, exit }
}
