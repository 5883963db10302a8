// The nemesis: what it does, to what and when is drawn from the seed. Several loops work at once: one
// strikes processes, one the database and the connections to it, one each broker, one moves the database's
// clock, and one changes endpoints as their owner would.

import { setTimeout as sleep } from 'node:timers/promises'
import { Dice } from '../simulator/dice.ts'
import type { Broker } from './broker.ts'
import type { ClockJumps } from './clock-jumps.ts'
import type { ChaosDatabase } from './database.ts'
import type { Endpoints } from './endpoints.ts'
import type { FaultLog } from './fault-log.ts'
import type { BrokerFeed } from './feeds.ts'
import type { Service } from './services.ts'
import { type Blow, type BrokerPlan, clockOffMsMax, type Suite, type Trouble } from './settings.ts'

export interface Kill {
  node: string
  atMs: number
}

export interface Stop extends Kill {
  tookMs: number
  exit: number | string | null
}

interface Arena {
  services: readonly Service[]
  database: ChaosDatabase
  endpoints: Endpoints
  /** Those that are installed. */
  brokers: readonly Broker[]
  clock: ClockJumps | null
  faults: FaultLog
  note(line: string): void
}

const HOUR_MS = 3_600_000
const CLOCK_SHIFTS_MS = [-HOUR_MS, HOUR_MS, -8 * 24 * HOUR_MS, 8 * 24 * HOUR_MS]
const ROLLING_ROUNDS = 2
const STARTS_MAX = 50
const BROKER_DICE: Record<BrokerFeed, number> = { nats: 14, kafka: 16 }

export class Nemesis {
  readonly kills: Kill[] = []
  readonly stops: Stop[] = []
  readonly #arena: Arena
  readonly #suite: Suite
  readonly #seed: number
  readonly #dice: { blows: Dice; troubles: Dice; control: Dice; clock: Dice }
  readonly #stricken = new Set<Service>()
  readonly #under: Set<Promise<void>> = new Set()
  #isDone = false
  #awaitsReport = false

  constructor(arena: Arena, suite: Suite, seed: number) {
    this.#arena = arena
    this.#suite = suite
    this.#seed = seed
    this.#dice = {
      blows: new Dice(seed, 11),
      troubles: new Dice(seed, 12),
      control: new Dice(seed, 13),
      clock: new Dice(seed, 15),
    }
  }

  /** Returns when its time is over and everything is whole again. */
  async rage(ms: number): Promise<void> {
    const { suite, hands } = { suite: this.#suite, hands: [] as Promise<void>[] }
    if (suite.rollingRestarts) await this.#rollingRestarts()
    hands.push(this.#every(suite.blowEveryMs, this.#dice.blows, async () => this.#strike()))
    hands.push(this.#every(suite.troubleEveryMs, this.#dice.troubles, () => this.#trouble()))
    const act = () => this.#arena.endpoints.act()
    hands.push(this.#every(suite.controlEveryMs, this.#dice.control, act))
    const { brokers, clock } = this.#arena
    for (const broker of brokers) {
      const plan = suite.brokers[broker.feed] as BrokerPlan
      const dice = new Dice(this.#seed, BROKER_DICE[broker.feed])
      hands.push(this.#every(plan.everyMs, dice, () => this.#strikeBroker(broker, plan, dice)))
    }
    if (clock && suite.clockJumps) {
      const jump = () => this.#jump(clock)
      hands.push(this.#every(suite.clockJumpEveryMs, this.#dice.clock, jump))
    }
    const done = Promise.all(hands)
    // One that fails ends the run.
    await Promise.race([sleep(ms), done])
    this.#isDone = true
    await done
    while (this.#under.size > 0) await Promise.all(this.#under)
    for (const { proxy } of this.#arena.services) proxy.heal()
    if (suite.rollingRestarts) await this.#rollingRestarts()
    await this.#arena.endpoints.resumeAll()
  }

  /** A receiver has a first request, and waits with its answer (F2). */
  async onReport(path: string): Promise<void> {
    if (!this.#awaitsReport) return
    this.#awaitsReport = false
    const id = this.#arena.endpoints.all.find((endpoint) => endpoint.path === path)?.id
    const { rows } = await this.#arena.database.ask(
      (client) =>
        client.query<{ node: string }>(
          `select t.node from chaos.takings t join paybell.endpoints e using (shard)
           where e.id = $1 order by t.epoch desc limit 1`,
          [id],
        ),
      1,
    )
    const owner = this.#arena.services.find(({ name }) => name === rows[0]?.node)
    if (owner?.isReady && !this.#stricken.has(owner))
      await this.#kill(owner, 'killed after sending')
  }

  async #every(
    [least, most]: readonly [number, number],
    dice: Dice,
    work: () => Promise<void>,
  ): Promise<void> {
    while (!this.#isDone) {
      await sleep(dice.between(least, most))
      if (!this.#isDone) await work()
    }
  }

  /** No excuse for anything: what it keeps waits there. */
  async #strikeBroker(broker: Broker, plan: BrokerPlan, dice: Dice): Promise<void> {
    const isFrozen = dice.chance(plan.frozenShare)
    const ms = dice.between(0, isFrozen ? 4_000 : 1_500)
    const what = `${broker.name} ${isFrozen ? 'frozen' : 'killed'}`
    this.#arena.note(`${what}, for ${Math.round(ms)} ms`)
    this.#arena.faults.count(what)
    await (isFrozen ? broker.freeze(ms) : broker.kill(ms))
    this.#arena.note(`${broker.name} is back`)
  }

  async #jump(clock: ClockJumps): Promise<void> {
    const offMs = clockOffMsMax(this.#suite)
    const offsetMs = this.#dice.clock.between(-offMs, offMs)
    this.#arena.note(`the database's clock jumps to ${Math.round(offsetMs)} ms off`)
    this.#arena.faults.begin("database's clock jumped", 'database-clock', null)()
    await clock.jumpTo(offsetMs)
  }

  #strike(): void {
    const dice = this.#dice.blows
    const blow = drawn(this.#suite.blows, dice)
    const whole = this.#arena.services.filter((one) => one.isReady && !this.#stricken.has(one))
    if (whole.length === 0) return
    const service = dice.pick(whole)
    if (blow === 'killed after sending') this.#awaitsReport = true
    else if (blow === 'killed') this.#track(this.#kill(service, blow))
    else if (blow === 'stopped') this.#track(this.#stop(service))
    else this.#track(this.#stall(service, blow, dice.between(1.3, 4) * this.#suite.leases.leaseMs))
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#under.delete(tracked))
    this.#under.add(tracked)
  }

  async #kill(service: Service, what: Blow): Promise<void> {
    await this.#striking(service, async () => {
      this.#arena.note(`${service.name} ${what}`)
      const end = this.#arena.faults.begin(what, 'crash', service.name)
      this.kills.push({ node: service.name, atMs: Date.now() })
      await service.end('SIGKILL')
      end()
      // Not awaited here: some callers wait for the kill alone.
      this.#track(this.#restart(service))
    })
  }

  async #stop(service: Service): Promise<void> {
    await this.#striking(service, async () => {
      this.#arena.note(`${service.name} stopped`)
      const end = this.#arena.faults.begin('stopped', 'stop', service.name)
      const atMs = Date.now()
      const exit = await service.end('SIGTERM')
      end()
      this.stops.push({ node: service.name, atMs, tookMs: Date.now() - atMs, exit })
      await this.#restart(service)
    })
  }

  async #stall(service: Service, what: Blow, ms: number): Promise<void> {
    await this.#striking(service, async () => {
      this.#arena.note(`${service.name} ${what} for ${Math.round(ms)} ms`)
      const end = this.#arena.faults.begin(what, 'stall', service.name)
      if (what === 'held busy') service.beBusy(ms)
      else service.signal('SIGSTOP')
      // Its proxy is its way to the database: the server ends its sessions, and it hears of it when it goes on.
      if (what === 'frozen and cut') service.proxy.cut()
      await sleep(ms)
      service.signal('SIGCONT')
      // Until it has noticed.
      await sleep(100)
      end()
    })
  }

  async #striking(service: Service, work: () => Promise<void>): Promise<void> {
    this.#stricken.add(service)
    try {
      await work()
    } finally {
      this.#stricken.delete(service)
    }
  }

  async #restart(service: Service): Promise<void> {
    const dice = this.#dice.blows
    // The last ones start with the right time: a clock that is wrong is a fault, and those are over. A process whose own
    // clock is days behind gives nothing up for ten minutes, which this schedule does not have.
    const isShifted = this.#suite.clocksShift && dice.chance(0.3) && !this.#isDone
    const shiftMs = isShifted ? dice.pick(CLOCK_SHIFTS_MS) : 0
    if (shiftMs !== 0) {
      this.#arena.note(`${service.name} starts with a clock ${shiftMs / HOUR_MS} h off`)
      this.#arena.faults.begin('clock shifted', 'wall-clock', service.name)()
    }
    for (let tries = 1; ; tries++) {
      try {
        await service.start(shiftMs)
        return
      } catch (error) {
        // A process cannot start while the database is away: a supervisor would start it again.
        this.#arena.faults.begin('not started', 'crash', service.name)()
        if (tries === STARTS_MAX) throw error
        await sleep(200)
      }
    }
  }

  /** F18: one after the other, without any other fault: nothing may be sent twice. */
  async #rollingRestarts(): Promise<void> {
    for (let round = 0; round < ROLLING_ROUNDS; round++) {
      for (const service of this.#arena.services) await this.#stop(service)
    }
  }

  async #trouble(): Promise<void> {
    const { database, faults, services, note } = this.#arena
    const dice = this.#dice.troubles
    const trouble = drawn(this.#suite.troubles, dice)
    const one = dice.pick(services)
    const isForAll = dice.chance(0.4)
    const proxies = isForAll ? services.map(({ proxy }) => proxy) : [one.proxy]
    const node = isForAll ? null : one.name
    note(`${trouble}${SHARED.has(trouble) ? '' : ` for ${node ?? 'all'}`}`)
    const end = faults.begin(
      trouble,
      SHARED.has(trouble) ? 'store' : 'partition',
      SHARED.has(trouble) ? null : node,
    )
    switch (trouble) {
      case 'postmaster killed':
        await database.kill()
        // Time for the pools to reconnect.
        await sleep(300)
        break
      case 'connections cut':
        for (const proxy of proxies) proxy.cut()
        await sleep(300)
        break
      case 'replies delayed':
        for (const proxy of proxies) proxy.delayMs = 1_000
        await sleep(dice.between(1_000, 4_000))
        for (const proxy of proxies) proxy.delayMs = 0
        await sleep(2_200)
        break
      case 'black hole':
        for (const proxy of proxies) proxy.isBlackHole = true
        await sleep(5_000)
        for (const proxy of proxies) proxy.isBlackHole = false
        // By then the processes have given up dead connections.
        await sleep(4_500)
        break
      case 'replies swallowed':
        for (const proxy of proxies) proxy.swallows = dice.whole(1, 4)
        await sleep(1_000)
        for (const proxy of proxies) proxy.swallows = 0
        await sleep(300)
        break
      case 'backends terminated':
        await database.ask((client) =>
          client.query(`select pg_terminate_backend(pid) from pg_stat_activity
                        where backend_type = 'client backend' and pid <> pg_backend_pid()`),
        )
        await sleep(300)
        break
      case 'signs ended':
        await database.ask((client) =>
          client.query(`select pg_terminate_backend(pid) from pg_stat_activity
                        where application_name = 'paybell sign'`),
        )
        await sleep(300)
        break
      case 'tables locked':
        await this.#lock(dice.pick(['leases', 'pending_deliveries', 'endpoints']), dice)
        await sleep(300)
        break
    }
    end()
  }

  async #lock(table: string, dice: Dice): Promise<void> {
    const ms = dice.between(500, 2_500)
    await this.#arena.database.ask(async (client) => {
      await client.query('begin')
      await client.query(`lock table paybell.${table} in access exclusive mode`)
      await sleep(ms)
      await client.query('rollback')
    })
  }
}

/** These meet every process at once. */
const SHARED: ReadonlySet<Trouble> = new Set([
  'postmaster killed',
  'backends terminated',
  'signs ended',
  'tables locked',
])

function drawn<T extends string>(weights: Partial<Record<T, number>>, dice: Dice): T {
  const entries = Object.entries(weights) as [T, number][]
  let left = dice.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [what, weight] of entries) {
    left -= weight
    if (left < 0) return what
  }
  return entries.at(-1)?.[0] as T
}
