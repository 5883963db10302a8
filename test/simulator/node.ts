// One process of the service: the real engine and the real gatherer. Everything that reaches it passes one
// door: a dead incarnation never hears of anything again, a stalled one hears late, while all clocks run on.

import type { Clock } from '../../server/core/plain/clock.ts'
import type { Engine } from '../../server/delivery/engine.ts'
import type { PaymentGatherer } from '../../server/operations/accepting/payment-gatherer.ts'
import type {
  PaymentChange,
  RecordedPayment,
} from '../../server/operations/accepting/record-payments.ts'
import type { WakeUp } from '../../server/store/owed/wake-ups.ts'
import { Dice } from './dice.ts'
import { NodeClocks } from './node-clocks.ts'
import { type NodePayments, nodePayments, type PaymentLink } from './node-payments.ts'
import { sendFrom } from './node-sending.ts'
import { call, nodeStore } from './node-store.ts'
import type { Door, NodeWorld } from './node-world.ts'
import type { FaultAct } from './records.ts'

export class SimulatedNode {
  readonly name: string
  readonly #world: NodeWorld
  #incarnation = 0
  #dice: Dice
  /** For its session alone, so that a seed keeps the rest of its world. */
  readonly #signDice: Dice
  #stalledUntilMs = 0
  /** What stalls it when it next sends. */
  #stallsAtSend: (() => void) | null = null
  #partitionedUntilMs = 0
  #starvedUntilMs = 0
  /** Until then it gets no session that would be a sign. */
  #unsignedUntilMs = 0
  #processId = ''
  readonly #clocks: NodeClocks
  /** Pauses since which it has not renewed: it may count on leases that it cannot know to be lost. */
  #blindness: FaultAct[] = []
  #engine: Engine | null = null
  #gatherer: PaymentGatherer | null = null
  #payments: NodePayments | null = null
  #link: PaymentLink | null = null
  /** Changes that wait for their answer. */
  #calls = new Set<{ atMs: number }>()
  #nowMs: () => number = () => 0
  #isAnchored: () => boolean = () => false
  #isStopping = false
  #isReady = false

  constructor(world: NodeWorld, number: number, wallOffsetMs: number) {
    this.#world = world
    this.name = `n${number}`
    this.#clocks = new NodeClocks(world.scheduler, wallOffsetMs)
    this.#dice = new Dice(world.seed, 1_000 + number)
    this.#signDice = new Dice(world.seed, 3_000 + number)
  }

  get isUp(): boolean {
    return this.#engine !== null
  }

  /** Takes calls of its API: up, past its start, and knowing what time it is. */
  get isReady(): boolean {
    if (!this.#isReady || !this.#isAnchored()) return false
    return this.#world.scheduler.nowMs >= this.#awakeAtMs
  }

  get engine(): Engine | null {
    return this.#engine
  }

  /** The process's own idea of the time, which it hands to SQL. */
  nowMs(): number {
    return this.#nowMs()
  }

  /** When its process goes on, or may begin. */
  get #awakeAtMs(): number {
    return Math.max(this.#stalledUntilMs, this.#clocks.stillUntilMs)
  }

  start(): void {
    if (this.isUp) return
    const { subject, twin, options, scheduler } = this.#world
    if (scheduler.nowMs < this.#clocks.stillUntilMs) {
      scheduler.at(this.#clocks.stillUntilMs, `${this.name} starts`, () => this.start())
      return
    }
    const incarnation = ++this.#incarnation
    const clocks = this.#clocks
    clocks.start(this.#dice.between(0, 1e6))
    const clock = new subject.DatabaseClock(
      () => clocks.wallMs(),
      () => clocks.monotonicMs(),
    )
    const cautious = new subject.CautiousClock(() => clocks.monotonicMs(), clocks)
    this.#nowMs = () => clock.nowMs()
    this.#isAnchored = () => clock.isAnchored
    this.#isStopping = false
    const door = this.#doorOf(incarnation)
    const link = this.#linkThrough(door)
    this.#link = link
    const processId = `${this.name}#${incarnation}`
    this.#processId = processId
    const { name } = this
    const cautiousMs = () => cautious.nowMs()
    const isFrozen = () => this.#world.scheduler.nowMs < this.#awakeAtMs
    const sending = { name, world: this.#world, clocks, dice: this.#dice, cautiousMs, isFrozen }
    const engine = new subject.Engine(
      {
        clock,
        cautiousMs,
        random: () => this.#dice.next(),
        setTimer: (ms, run) => this.#setTimer(door, ms, run),
        store: nodeStore(link, twin, processId, options.leases),
        openSign: (onEnd) => this.#world.signs.open(this.#signLink(link), processId, onEnd),
        send: (request) => {
          this.#stallsAtSend?.()
          this.#stallsAtSend = null
          return sendFrom({ ...sending, door }, request)
        },
        // No endpoint of a plan asks for it: threads have no virtual time.
        signers: async () => [],
        wakeUps: {
          announceWork: (shard) =>
            this.#world.announce(this.name, { shards: [shard], endpoints: [] }),
          announceEndpoint: (lane) =>
            this.#world.announce(this.name, { shards: [], endpoints: [lane] }),
          announceLeases: () =>
            this.#world.announce(this.name, { shards: [], endpoints: [], leases: true }),
        },
        log: {
          info: (fields, message) => this.#world.log(this.name, message, fields),
          warn: (fields, message) => this.#world.log(this.name, message, fields),
        },
        documentLink: async () => 'https://paybell.example/documents/link',
        onAttempt: () => {},
      },
      { ...options, onDatabaseTime: (...reading) => clock.adjust(...reading) },
    )
    this.#engine = engine
    this.#accept(engine, clock, door, link)
    this.#world.siblings.join(name, engine, door)
    void engine.start().then(() => {
      if (incarnation === this.#incarnation && this.isUp) this.#isReady = true
    })
  }

  /** The accepting side of the process, as operations/accepting/create-gatherer puts it together. */
  #accept(engine: Engine, clock: Clock, door: Door, link: PaymentLink): void {
    const { subject, twin, accounts, accepting } = this.#world
    const ids = new subject.UuidMaker(
      () => clock.nowMs(),
      (count) => this.#dice.bytes(count),
    )
    const payments = nodePayments(link, twin)
    const recording = { payments, accounts, clock, newId: () => ids.next() }
    this.#payments = payments
    this.#gatherer = new subject.PaymentGatherer(
      async (changes, locking) => {
        const accepted = await subject.acceptPayments(recording, engine, changes, locking)
        return accepted.results
      },
      accepting.gatherer,
      accepting.holds,
      {
        soon: (run) => void door(0, `${this.name} gathers`, run),
        later: (ms, run) => void this.#setTimer(door, ms, run),
      },
    )
  }

  /** Hears a notification, if it is up. */
  wake(ms: number, wakeUp: WakeUp): void {
    const engine = this.#engine
    if (engine) this.#doorOf(this.#incarnation)(ms, `${this.name} wakes`, () => engine.wake(wakeUp))
  }

  crash(): void {
    this.#incarnation++
    this.#world.siblings.leave(this.name)
    this.#endSign()
    this.#engine = null
    this.#gatherer = null
    this.#payments?.abandon()
    this.#payments = null
    this.#calls = new Set()
    this.#link = null
    this.#isReady = false
    this.#stalledUntilMs = 0
    this.#see(this.#world.scheduler.nowMs)
  }

  /** SIGTERM: what is under way ends, shards are handed over, then the process is gone. */
  stop(onGone: () => void): void {
    const engine = this.#engine
    const incarnation = this.#incarnation
    if (!engine || this.#isStopping) return
    this.#isReady = false
    this.#isStopping = true
    void engine.stop().then(() => {
      if (incarnation !== this.#incarnation) return
      this.crash()
      onGone()
    })
  }

  stall(ms: number): void {
    this.#stalledUntilMs = this.#world.scheduler.nowMs + ms
  }

  /** Later: when it has looked at its lease, and is about to send. */
  stallAtSend(stall: () => void): void {
    this.#stallsAtSend = stall
  }

  /** The machine sleeps: its monotonic clock stands still, and the others tell so when it wakes up. */
  sleep(ms: number): void {
    this.#clocks.standStill(ms, false)
  }

  /** The machine is paused from outside: no clock of its own tells. Blind until its next renewal. */
  pause(ms: number, blindness: FaultAct): void {
    this.#clocks.standStill(ms, true)
    this.#blindness.push(blindness)
  }

  setWall(byMs: number): void {
    this.#clocks.setWall(byMs)
  }

  partition(ms: number): void {
    this.#partitionedUntilMs = this.#world.scheduler.nowMs + ms
  }

  /** The database ends its session; it may not be told. True when it had one. */
  cut(ms = 0): boolean {
    this.#unsignedUntilMs = this.#world.scheduler.nowMs + ms
    return this.#world.signs.end(this.#processId, this.#signDice.chance(0.6)) > 0
  }

  starve(ms: number): void {
    this.#starvedUntilMs = this.#world.scheduler.nowMs + ms
  }

  /** Whatever it suffers ends now. */
  heal(): void {
    this.#stallsAtSend = null
    this.#starvedUntilMs = 0
    this.#partitionedUntilMs = 0
    this.#unsignedUntilMs = 0
  }

  /** The system closes the sockets of a process that dies; those of a machine that vanishes stay for long. */
  #endSign(): void {
    const { scheduler, signs, options } = this.#world
    const processId = this.#processId
    const isVanished = this.#signDice.chance(0.2)
    const afterMs = isVanished ? options.leases.leaseMs : this.#signDice.skewed(0.2, 200)
    scheduler.after(afterMs, `${this.name} sign ended`, () => signs.end(processId, false))
  }

  #signLink(link: PaymentLink): PaymentLink {
    const isPartitioned = () =>
      link.isPartitioned() || this.#world.scheduler.nowMs < this.#unsignedUntilMs
    return { ...link, isPartitioned, dice: this.#signDice }
  }

  /** A payment change from a caller of the API. */
  submit(change: PaymentChange): Promise<RecordedPayment> {
    if (!this.#gatherer) return new Promise(() => {})
    const call = { atMs: this.#world.scheduler.nowMs }
    const calls = this.#calls
    calls.add(call)
    return this.#gatherer.submit(change).finally(() => calls.delete(call))
  }

  /** Changes that wait since before that time, if the process could have answered them since. */
  unansweredSince(beforeMs: number): number {
    if (this.#awakeAtMs > beforeMs) return 0
    return [...this.#calls].filter(({ atMs }) => atMs < beforeMs).length
  }

  /** Any other transaction on behalf of a caller of the API. */
  transact<T>(label: string, apply: () => T): Promise<T> {
    if (!this.#link) return new Promise(() => {})
    return call(this.#link, label, apply)
  }

  #doorOf(incarnation: number): Door {
    const { scheduler } = this.#world
    return (ms, label, run, { isMidTurn = false } = {}) => {
      let callOff = () => {}
      const enter = () => {
        if (incarnation !== this.#incarnation) return
        if (scheduler.nowMs < this.#awakeAtMs) {
          const lateMs = isMidTurn ? 0 : this.#dice.between(0, 5)
          callOff = scheduler.at(this.#awakeAtMs + lateMs, label, enter)
        } else run()
      }
      callOff = scheduler.after(ms, label, enter)
      return () => callOff()
    }
  }

  /** Timers count on the monotonic clock: they ring so much later as it has stood still. */
  #setTimer(door: Door, ms: number, run: () => void): () => void {
    const dueAtMs = this.#clocks.monotonicMs() + ms
    const ring = () => {
      const leftMs = dueAtMs - this.#clocks.monotonicMs()
      if (leftMs > 0.001) callOff = door(leftMs, 'timer', ring)
      else run()
    }
    let callOff = door(ms, 'timer', ring)
    return () => callOff()
  }

  /** It knows again what is its own, if the renewal was sent when the machine was awake again. */
  #see(sentAtMs: number): void {
    if (sentAtMs < this.#clocks.stillUntilMs) return
    for (const fault of this.#blindness.splice(0)) fault.untilMs = this.#world.scheduler.nowMs
  }

  #linkThrough(door: Door): PaymentLink {
    const { scheduler } = this.#world
    return {
      dice: this.#dice,
      weather: () => this.#world.weather(),
      isPartitioned: () => scheduler.nowMs < this.#partitionedUntilMs,
      isStarved: () => scheduler.nowMs < this.#starvedUntilMs,
      travel: (ms, label, run) => scheduler.after(ms, `${this.name} ${label}`, run),
      arrive: (ms, label, run) => door(ms, `${this.name} ${label}`, run),
      databaseMs: () => this.#world.databaseMs(),
      onPayment: (what) => this.#world.counters.count(what),
      beginRenewal: () => {
        const sentAtMs = scheduler.nowMs
        return () => this.#see(sentAtMs)
      },
      onStoreFault: (kind, label) => {
        const untilMs = scheduler.nowMs + 12_000
        this.#world.log(this.name, `store fault: ${kind}`, { label })
        this.#world.onFault({ kind: 'store', node: this.name, fromMs: scheduler.nowMs, untilMs })
        if (kind !== 'answer-lost') return
        if (label === 'recordOutcomes') this.#world.counters.count('commit unknown')
        if (label === 'saveAndCommit') this.#world.counters.count('commit of a write unknown')
      },
    }
  }
}
