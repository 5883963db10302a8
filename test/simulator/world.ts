// One seed, lived through: nodes over one twin, receivers, callers who repeat themselves until they
// have an answer, and faults; first with faults, then without until everything has drained.

import type { HandedOff } from '../../server/core/delivery/queued-delivery.ts'
import type { WakeUp } from '../../server/store/owed/wake-ups.ts'
import { Asking } from './asking.ts'
import type { Counters } from './counters.ts'
import { CLIENT_KEY } from './delivery-acts.ts'
import { Dice } from './dice.ts'
import { SECOND } from './durations.ts'
import { Faults } from './faults.ts'
import { SimulatedNode } from './node.ts'
import { FAIR_WEATHER } from './node-store.ts'
import type { NodeWorld } from './node-world.ts'
import { Owners } from './owners.ts'
import type { Plan } from './plan.ts'
import { Receiver } from './receivers.ts'
import type {
  FailingWrite,
  FaultAct,
  FinalAct,
  LeaseAct,
  ReceivedRequest,
  RunRecord,
} from './records.ts'
import { Scheduler } from './scheduler.ts'
import { SiblingChannels } from './sibling-channels.ts'
import { SignSessions } from './sign-sessions.ts'
import type { Subject } from './subject.ts'
import { Twin } from './twin.ts'
import { failingWrites, storedDeliveries, storedHealth } from './twin-records.ts'
import type { PendingRow, TwinEvents } from './twin-tables.ts'
import { Writers } from './writers.ts'

const START_MS = 1_767_225_600_000

/** A change waits for a payment for 10 s at most, for its transaction not much longer. */
const ANSWER_MS_MAX = 60 * SECOND

/** A quiet node takes about ten steps a poll, and as many for its beats; a busy one a few dozen. */
const STEPS_OF_A_START = 5_000
const STEPS_PER_POLL = 100

export interface TimelineEntry {
  atMs: number
  who: string
  what: string
}

export interface WorldHooks {
  /** Called for each entry of the timeline; costs time, hence only when it is read. */
  onTimeline?: (entry: TimelineEntry) => void
  /** Called before each event that reaches a node, to crash it at a chosen one. */
  onStep?: (world: World, label: string) => void
}

export class World {
  readonly startMs = START_MS
  readonly plan: Plan
  readonly subject: Subject
  readonly scheduler: Scheduler
  readonly twin: Twin
  readonly nodes: SimulatedNode[]
  readonly receivers = new Map<string, Receiver>()
  readonly counters: Counters
  readonly dice: Dice
  readonly owners: Owners
  readonly #asking: Asking
  readonly #writers: Writers
  readonly #fannedOutAtMs = new Map<string, number>()
  readonly requests: ReceivedRequest[] = []
  readonly #faults: Faults
  readonly finals: FinalAct[] = []
  readonly leases: LeaseAct[] = []
  readonly #failing: FailingWrite[] = []
  readonly #hooks: WorldHooks
  #isFaulty = true
  #faultsEndedAtMs = 0
  #dueAtFaultsEnd: string[] = []

  constructor(plan: Plan, subject: Subject, counters: Counters, hooks: WorldHooks = {}) {
    this.plan = plan
    this.subject = subject
    this.counters = counters
    this.#hooks = hooks
    this.dice = new Dice(plan.seed, 1)
    const onEvent =
      hooks.onStep || hooks.onTimeline
        ? (atMs: number, label: string) => {
            if (label !== 'timer') hooks.onTimeline?.({ atMs, who: 'event', what: label })
            hooks.onStep?.(this, label)
          }
        : undefined
    this.scheduler = new Scheduler(new Dice(plan.seed, 2), START_MS, onEvent)
    this.twin = new Twin(plan.shards, this.#twinEvents())
    const world: NodeWorld = {
      seed: plan.seed,
      subject,
      scheduler: this.scheduler,
      twin: this.twin,
      signs: new SignSessions(),
      siblings: new SiblingChannels(plan.seed, counters),
      counters,
      options: plan.options,
      accepting: plan.accepting,
      accounts: { find: async (ids) => new Map(ids.map((id) => [id, CLIENT_KEY])) },
      startMs: START_MS,
      weather: () => (this.#isFaulty ? plan.weather : FAIR_WEATHER),
      databaseMs: () => this.scheduler.nowMs + this.#faults.databaseOffsetMs,
      receiverAt: (url: string) => this.receivers.get(url),
      announce: (from: string, wakeUp: WakeUp) => this.#announce(from, wakeUp),
      onFault: (fault: FaultAct) => this.#faults.acts.push(fault),
      log: (who: string, message: string, fields: object) => {
        const { nowMs: atMs } = this.scheduler
        hooks.onTimeline?.({ atMs, who, what: `${message} ${JSON.stringify(fields)}` })
      },
    }
    this.nodes = plan.nodes.map(
      ({ wallOffsetMs }, number) => new SimulatedNode(world, number, wallOffsetMs),
    )
    this.#faults = new Faults(this)
    const { pollEveryMs } = plan.options
    this.#asking = new Asking({ ...this, pollEveryMs })
    this.owners = new Owners(this, this.#asking)
    this.#writers = new Writers(this, this.#asking)
  }

  /** Far more happens than time passes: a process asks again and again without waiting. */
  get isSpinning(): boolean {
    const { nodes, options } = this.plan
    const polls = (this.scheduler.nowMs - START_MS) / options.pollEveryMs
    return this.scheduler.steps > STEPS_OF_A_START + STEPS_PER_POLL * polls * nodes.length
  }

  addReceiver(url: string, endpointId: string, number: number): Receiver {
    const { keyName, spells } = this.plan.endpoints[number] as Plan['endpoints'][number]
    const dice = new Dice(this.plan.seed, 2_000 + number)
    const receiver = new Receiver(endpointId, keyName, spells, this.requests, dice)
    if (!this.#isFaulty) receiver.settle(this.plan.endpoints[number]?.finalMood ?? 'ok')
    this.receivers.set(url, receiver)
    return receiver
  }

  async run(): Promise<RunRecord> {
    const { plan, scheduler } = this
    for (const [number, { startAfterMs }] of plan.nodes.entries()) {
      scheduler.after(startAfterMs, 'node starts', () => this.nodes[number]?.start())
    }
    for (const fault of plan.faults) {
      scheduler.after(fault.afterMs, `fault ${fault.kind} n${fault.node}`, () =>
        this.#isFaulty ? this.#faults.strike(fault) : undefined,
      )
    }
    if (plan.weather.delayMsMax > SECOND) {
      const untilMs = START_MS + plan.phaseMs + 30 * SECOND
      this.#faults.acts.push({ kind: 'store', node: null, fromMs: START_MS, untilMs })
    }
    this.owners.begin()
    this.#writers.begin()
    await scheduler.run(START_MS + plan.phaseMs, () => this.isSpinning)
    this.#endFaults()
    const untilMs = scheduler.nowMs + plan.drainMs
    await scheduler.run(untilMs, () => this.isSpinning || this.#isDrained())
    // A little longer: what comes too often comes late.
    await scheduler.run(scheduler.nowMs + 3 * plan.options.pollEveryMs, () => this.isSpinning)
    return this.record()
  }

  /** Brings a node down now, and up again later. */
  crash(number: number, downMs: number): void {
    this.#faults.crash(number, downMs)
  }

  record(): RunRecord {
    const { tables } = this.twin
    return {
      limits: this.plan.limits,
      endpoints: this.owners.endpoints,
      writes: this.#writers.writes,
      events: [...tables.events.values()].map((event) => ({
        ...event,
        createdAtMs: this.#fannedOutAtMs.get(event.id) ?? 0,
      })),
      deliveries: storedDeliveries(tables),
      attempts: [...tables.attempts.values()],
      finals: this.finals,
      replays: this.owners.replays,
      retries: this.owners.retries,
      requests: this.requests,
      faults: this.#faults.acts,
      leases: this.leases,
      health: storedHealth(tables),
      failingWrites: this.#failing,
      dueAtFaultsEnd: this.#dueAtFaultsEnd,
      faultsEndedAtMs: this.#faultsEndedAtMs,
      endedAtMs: this.scheduler.nowMs,
      calls: {
        unanswered: this.#asking.open + this.#forgotten(),
        wronglyRefused: this.#writers.wronglyRefused,
      },
    }
  }

  /** Changes that a process has taken and lives on without an answer to. */
  #forgotten(): number {
    const beforeMs = this.scheduler.nowMs - ANSWER_MS_MAX
    return this.nodes.reduce((sum, node) => sum + node.unansweredSince(beforeMs), 0)
  }

  /** Gathered for 20 ms and more, and lost where the plan has it so. */
  #announce(from: string, wakeUp: WakeUp): void {
    for (const node of this.nodes) {
      if (node.name === from) continue
      if (this.#isFaulty && this.dice.chance(this.plan.wakeUpsLost)) continue
      node.wake(this.dice.between(20, 60), wakeUp)
    }
  }

  #endFaults(): void {
    this.#isFaulty = false
    this.#faultsEndedAtMs = this.scheduler.nowMs
    this.#hooks.onTimeline?.({ atMs: this.scheduler.nowMs, who: 'world', what: 'faults end' })
    this.#dueAtFaultsEnd = this.#findDue()
    for (const node of this.nodes) {
      node.heal()
      node.start()
    }
    for (const receiver of this.receivers.values()) {
      const number = this.owners.numberOf(receiver.endpointId)
      receiver.settle(this.plan.endpoints[number]?.finalMood ?? 'ok')
    }
    if (this.plan.resumesAll) this.owners.resumeAll()
  }

  /** Due, or never tried, whatever clock accepted it; its endpoint active, and nothing of its payment before it, nor tried ahead of it. */
  #findDue(): string[] {
    const rows = [...this.twin.tables.pending.values()]
    const due = rows.filter((row) => {
      const isPreceded = rows.some(
        (other) =>
          other.endpointId === row.endpointId &&
          other.paymentId === row.paymentId &&
          (other.sequence < row.sequence ||
            this.#isLatest(row.endpointId) ||
            this.#hasGivenWay(row, other.sequence)) &&
          other !== row,
      )
      const nowMs = this.scheduler.nowMs + Math.min(0, this.#faults.databaseOffsetMs)
      const isDue = (row.nextAttemptAtMs ?? Infinity) <= (row.attempts === 0 ? 9e15 : nowMs)
      return isDue && !isPreceded && this.#isActive(row.endpointId)
    })
    return due.map((row) => row.id)
  }

  #hasGivenWay({ sequence, firstFailedAtMs, isReplay }: PendingRow, to: number): boolean {
    const { patienceMs, clocksApartMs } = this.plan.limits
    if (to <= sequence || firstFailedAtMs === null || isReplay) return false
    return firstFailedAtMs + patienceMs <= this.scheduler.nowMs + clocksApartMs
  }

  #isLatest(endpointId: string): boolean {
    return this.twin.tables.endpoints.get(endpointId)?.deliver === 'latest'
  }

  #isActive(endpointId: string): boolean {
    return this.twin.tables.endpoints.get(endpointId)?.status === 'ACTIVE'
  }

  #isDrained(): boolean {
    if (this.#asking.open > 0) return false
    if (this.twin.tables.pending.size === 0) return true
    if (this.scheduler.steps % 16 !== 0) return false
    for (const row of this.twin.tables.pending.values()) {
      if (this.#isActive(row.endpointId)) return false
    }
    return true
  }

  #twinEvents(): TwinEvents {
    return {
      onEndpointsRead: () => this.scheduler.nowMs,
      onFannedOut: (events, readAtMs) => {
        for (const { id, kind } of events) {
          this.#fannedOutAtMs.set(id, readAtMs)
          const isUnheard = this.plan.endpoints.some(
            (endpoint) => endpoint.events?.some((choice) => choice === kind) === false,
          )
          if (isUnheard) this.counters.count('update that is not heard')
        }
      },
      onOwed: (deliveries) => this.#countWaiting(deliveries),
      onLeaseTaken: ({ shard, epoch, owner, isEarly }, before) => {
        this.leases.push({ shard, epoch, owner: owner as string, atMs: this.scheduler.nowMs })
        if (before.owner === null || before.owner === owner) return
        this.counters.count('shard taken over')
        if (isEarly) this.counters.count('shard taken over early')
        if (before.isEarly) this.counters.count('shard taken over after a second death')
      },
      onFinal: ({ id, state, endpointId }) => {
        this.finals.push({ deliveryId: id, state, atMs: this.scheduler.nowMs })
        this.#note(`${id} is ${state}`)
        if (state === 'EXHAUSTED') this.counters.count('exhausted at 7 d')
        if (state === 'SUPERSEDED') {
          const isLatest = this.#isLatest(endpointId)
          this.counters.count(isLatest ? 'superseded by the latest' : 'superseded after patience')
        }
      },
      onRefused: (reason) => {
        if (reason === 'stale-epoch') this.counters.count('stale record refused')
      },
      onParked: (count) => {
        if (count > 0) this.counters.count('parked')
      },
      onRefilled: (count) => {
        if (count > 0) this.counters.count('parked and refilled')
      },
      onReleased: (count) => {
        if (count > 0) this.counters.count('paused and resumed')
      },
      onCircuit: (circuit) => {
        if (circuit === 'OPEN') this.counters.count('breaker open')
      },
      onHealth: (...shown) => this.#failing.push(...failingWrites(this.scheduler.nowMs, ...shown)),
      onOutdatedHealth: () => this.counters.count('health of a former owner'),
      onStatus: (endpoint) => {
        if (endpoint.status !== 'DISABLED') return
        this.counters.count('endpoint disabled')
        this.owners.noteDisabled(endpoint.id)
      },
    }
  }

  #countWaiting(deliveries: readonly HandedOff[]): void {
    const { counters, twin } = this
    for (const { hasElders, endpointId, paymentId, sequence } of deliveries) {
      if (!hasElders) continue
      for (const row of twin.tables.pending.values()) {
        const isElder = row.endpointId === endpointId && row.paymentId === paymentId
        if (isElder && row.sequence < sequence && row.firstFailedAtMs !== null) {
          counters.count('order wait')
          break
        }
      }
    }
  }

  #note(what: string): void {
    this.#hooks.onTimeline?.({ atMs: this.scheduler.nowMs, who: 'database', what })
  }
}
