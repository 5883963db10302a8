// Those who call the API: the source that writes payments, and the owners of endpoints. They repeat
// each call, at any process that answers, until they are told that it is done, and note what they were
// told; only that is a promise.

import type { HandedOff } from '../../server/core/queued-delivery.ts'
import { keyOf } from './key-ring.ts'
import type { SimulatedNode } from './node.ts'
import type { ActPlan, EndpointPlan, WritePlan } from './plan.ts'
import type { AcknowledgedWrite, EndpointAct, EndpointHistory, ReplayAct } from './records.ts'
import {
  applyEvents,
  type Change,
  type ChangeResult,
  changeStatus,
  deleteEndpoint,
  fanOut,
  planChanges,
  registerEndpoint,
  replayDelivery,
  rotateKey,
  type WriteTools,
} from './twin-writes.ts'
import { isInFlight, type World } from './world.ts'

const PATIENCE_MS = 15_000
const CLIENT_KEY = 1

export class Callers {
  readonly endpoints: EndpointHistory[] = []
  readonly writes: AcknowledgedWrite[] = []
  readonly replays: ReplayAct[] = []
  readonly #world: World
  readonly #tools: WriteTools
  readonly #numbers = new Map<string, number>()
  #open = 0
  #rotations = 0

  constructor(world: World) {
    this.#world = world
    const { subject, scheduler, dice } = world
    const ids = new subject.UuidMaker(
      () => scheduler.nowMs,
      (count) => dice.bytes(count),
    )
    this.#tools = {
      applyChange: subject.applyChange,
      newId: () => ids.next(),
      newDeliveryId: (eventId) => `${eventId.slice(0, 14)}7${ids.next().slice(15)}`,
    }
  }

  /** Something that was asked for is not done yet. */
  get isBusy(): boolean {
    return this.#open > 0
  }

  begin(): void {
    const { plan, scheduler } = this.#world
    for (const [number, endpoint] of plan.endpoints.entries()) this.#introduce(number, endpoint)
    for (const write of plan.writes) {
      for (let copy = 0; copy < write.copies; copy++) {
        this.#open++
        scheduler.after(write.afterMs, 'a write', () => this.#write(write, scheduler.nowMs))
      }
    }
    for (const act of plan.acts) {
      this.#open++
      scheduler.after(act.afterMs, `${act.kind} is asked for`, () => this.#act(act))
    }
  }

  numberOf(endpointId: string): number {
    return this.#numbers.get(endpointId) ?? -1
  }

  resumeAll(): void {
    for (const [number, history] of this.endpoints.entries()) {
      const endpoint = this.#world.twin.tables.endpoints.get(history.id)
      if (endpoint?.status === 'PAUSED') {
        this.#open++
        this.#act({ kind: 'resume', endpoint: number, afterMs: 0 })
      }
    }
  }

  noteDisabled(endpointId: string): void {
    const { nowMs } = this.#world.scheduler
    this.#note(endpointId, 'disable', nowMs, null, null).acknowledgedAtMs = nowMs
  }

  #introduce(number: number, plan: EndpointPlan): void {
    const { scheduler, twin } = this.#world
    const id = `00000000-0000-4000-8000-00000000000${number}`
    const url = `https://e${number}.example/`
    const accountId = plan.account === null ? null : `account-${plan.account}`
    const key = keyOf(plan.keyName)
    const { shard } = plan
    const endpoint = { clientKey: CLIENT_KEY, id, accountId, shard, url, key }
    this.#numbers.set(id, number)
    this.endpoints.push({ id, accountId, acts: [] })
    this.#world.addReceiver(url, id, number)
    if (plan.registeredAfterMs === 0) {
      registerEndpoint(twin, endpoint, scheduler.nowMs)
      const act = this.#note(id, 'register', scheduler.nowMs, null, plan.keyName)
      act.acknowledgedAtMs = scheduler.nowMs
      return
    }
    this.#open++
    scheduler.after(plan.registeredAfterMs, 'register is asked for', () =>
      this.#control(id, 'register', plan.keyName, (nowMs) => {
        if (twin.tables.endpoints.has(id)) return 'nothing'
        registerEndpoint(twin, endpoint, nowMs)
        return 'changed'
      }),
    )
  }

  #act({ kind, endpoint: number }: ActPlan): void {
    const { twin, receivers } = this.#world
    const id = this.endpoints[number]?.id as string
    const before = () => twin.tables.endpoints.get(id)
    if (kind === 'replay') {
      this.#replay(id)
    } else if (kind === 'rotate') {
      const keyName = `e${number}k${++this.#rotations}`
      // The receiver's owner knows the key before anybody can sign with it.
      for (const receiver of receivers.values()) {
        if (receiver.endpointId === id) receiver.keyNames.unshift(keyName)
      }
      this.#control(id, 'rotate', keyName, (nowMs) => {
        const isNew = before()?.key !== keyOf(keyName)
        return rotateKey(twin, id, keyOf(keyName), nowMs) && isNew ? 'changed' : 'nothing'
      })
    } else if (kind === 'delete') {
      this.#control(id, 'delete', null, (nowMs) => {
        if (!deleteEndpoint(twin, id, nowMs)) return 'nothing'
        this.#countDeletedInFlight(id)
        return 'changed'
      })
    } else {
      const status = kind === 'pause' ? 'PAUSED' : 'ACTIVE'
      this.#control(id, kind, null, (nowMs) => {
        const isNew = before()?.status !== status
        const pauseCounts = this.#world.subject.flaws.has('pause-counts')
        return changeStatus(twin, id, status, nowMs, pauseCounts) && isNew ? 'changed' : 'nothing'
      })
    }
  }

  /** An act on an endpoint, repeated until it is answered; the process that serves it knows at once. */
  #control(
    endpointId: string,
    kind: EndpointAct['kind'],
    keyName: string | null,
    apply: (nowMs: number) => 'changed' | 'nothing',
  ): void {
    const { scheduler, twin } = this.#world
    const askedAtMs = scheduler.nowMs
    let act: EndpointAct | null = null
    this.#repeat(
      async (node) => {
        // As the operation does: the time is taken first, the transaction may be slow.
        const nowMs = node.nowMs()
        await node.transact(kind, () => {
          if (apply(nowMs) !== 'changed') return
          act = this.#note(endpointId, kind, askedAtMs, node.name, keyName)
        })
        const endpoint = twin.tables.endpoints.get(endpointId)
        if (endpoint) node.engine?.endpointChanged(CLIENT_KEY, endpointId, endpoint.shard)
      },
      () => {
        if (act) act.acknowledgedAtMs = scheduler.nowMs
      },
    )
  }

  #replay(endpointId: string): void {
    const { twin, dice, subject, scheduler } = this.#world
    const isFlawed = subject.flaws.has('replay-in-flight')
    const rows = isFlawed ? twin.tables.pending : twin.tables.final
    const candidates = [...rows.values()].filter((row) => row.endpointId === endpointId)
    if (candidates.length === 0) {
      this.#open--
      return
    }
    const { id } = dice.pick(candidates)
    this.#repeat(
      async (node) => {
        const nowMs = node.nowMs()
        await node.transact('replay', () => {
          const pending = twin.tables.pending.get(id)
          if (isFlawed && pending) twin.end(pending, 'CANCELLED', nowMs)
          const again = replayDelivery(twin, id, nowMs)
          if (again === null) return
          this.#world.counters.count('replay')
          const attemptsBefore = again.attempts
          this.replays.push({ deliveryId: id, atMs: scheduler.nowMs, attemptsBefore })
        })
      },
      () => {},
    )
  }

  #write(plan: WritePlan, askedAtMs: number): void {
    const { subject, scheduler } = this.#world
    const change = this.#changeOf(plan)
    let told: ChangeResult | null = null
    this.#repeat(
      async (node) => {
        told = null
        const nowMs = node.nowMs()
        if (subject.flaws.has('answer-before-commit')) {
          const early = planChanges(this.#world.twin, [change], nowMs, this.#tools)
          told = early.results[0] as ChangeResult
          void this.#accept(node, change, nowMs).catch(() => {})
          return
        }
        told = await this.#accept(node, change, nowMs)
      },
      () => {
        const result = told as ChangeResult | null
        if (result === null || result.outcome === 'refused') return
        this.writes.push({
          paymentId: change.write.id,
          accountId: change.accountId,
          version: plan.version,
          outcome: result.outcome,
          event: result.event,
          askedAtMs,
          acknowledgedAtMs: scheduler.nowMs,
        })
      },
    )
  }

  /** operations/record-payments: one transaction, and only then the hand-off. */
  async #accept(node: SimulatedNode, change: Change, nowMs: number): Promise<ChangeResult> {
    const { twin, subject } = this.#world
    const { flaws } = subject
    const tools = this.#tools
    const isOwed = flaws.has('fan-out-skips-paused')
      ? (endpoint: { status: string }) => endpoint.status === 'ACTIVE'
      : undefined
    const handOff = node.engine?.beginAccept()
    let deliveries: HandedOff[] = []
    let plan = planChanges(twin, [], nowMs, tools)
    if (flaws.has('sequence-without-lock') || flaws.has('check-then-insert')) {
      plan = await node.transact('read payment', () => planChanges(twin, [change], nowMs, tools))
      await node.transact('accept', () => {
        // First, because it throws where the unique index would: then nothing is written.
        deliveries = fanOut(twin, plan, tools)
        applyEvents(twin, plan)
      })
    } else if (flaws.has('fan-out-in-a-second-transaction')) {
      await node.transact('accept', () => {
        plan = planChanges(twin, [change], nowMs, tools)
        applyEvents(twin, plan)
      })
      await node.transact('fan out', () => {
        deliveries = fanOut(twin, plan, tools)
      })
    } else {
      await node.transact('accept', () => {
        plan = planChanges(twin, [change], nowMs, tools)
        applyEvents(twin, plan)
        deliveries = fanOut(twin, plan, tools, isOwed)
        this.#countWaiting(deliveries)
      })
    }
    if (deliveries.some(({ id }) => twin.tables.pending.get(id)?.attempts !== 0)) {
      this.#world.counters.count('hand-off behind the first attempt')
    }
    handOff?.(deliveries)
    return plan.results[0] as ChangeResult
  }

  #changeOf({ payment, version, content }: WritePlan): Change {
    const account = payment % this.#world.plan.accounts
    return {
      clientKey: CLIENT_KEY,
      accountId: `account-${account}`,
      write: {
        id: `payment-${payment}`,
        externalId: 'x',
        quoteId: 'q',
        amount: { amount: '1', currency: 'EUR' },
        reference: `content ${content}`,
        purposeOfPayment: 'OTHER',
        beneficiaryId: 'b',
        documentReference: null,
        document: null,
        status: null,
        createdAt: '2026-01-01T00:00:00Z',
        completedAt: null,
        version,
      },
    }
  }

  /** Asks one process after the other until one of them says that it is done. */
  #repeat(ask: (node: SimulatedNode) => Promise<void>, onDone: () => void): void {
    const { scheduler, dice, nodes, plan } = this.#world
    // In a world of weeks a process may need an hour to start: nobody asks every second.
    const pace = plan.options.pollEveryMs / 1_000
    let isDone = false
    let round = 0
    const again = (ms: number) => scheduler.after(ms, 'a caller tries again', attempt)
    const attempt = () => {
      if (isDone) return
      const mine = ++round
      const ready = nodes.filter((node) => node.isReady)
      if (ready.length === 0) {
        again(dice.between(200, 1_000) * pace)
        return
      }
      const callOff = scheduler.after(PATIENCE_MS, 'a caller gives up', () => {
        if (mine === round) attempt()
      })
      ask(dice.pick(ready)).then(
        () => {
          // An answer that comes when the caller has turned to somebody else is not heard.
          if (isDone || mine !== round) return
          isDone = true
          callOff()
          this.#open--
          onDone()
        },
        () => {
          if (isDone || mine !== round) return
          callOff()
          again(dice.between(200, 2_000) * pace)
        },
      )
    }
    attempt()
  }

  #note(
    endpointId: string,
    kind: EndpointAct['kind'],
    askedAtMs: number,
    node: string | null,
    keyName: string | null,
  ): EndpointAct {
    const appliedAtMs = this.#world.scheduler.nowMs
    const act: EndpointAct = {
      kind,
      askedAtMs,
      appliedAtMs,
      acknowledgedAtMs: null,
      node,
      keyName,
    }
    this.endpoints[this.numberOf(endpointId)]?.acts.push(act)
    return act
  }

  #countWaiting(deliveries: readonly HandedOff[]): void {
    const { counters, twin } = this.#world
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

  #countDeletedInFlight(endpointId: string): void {
    const { requests, counters, nodes, scheduler } = this.#world
    const isMet = requests.some(
      (request) =>
        request.endpointId === endpointId &&
        nodes.some(({ name }) => isInFlight(request, name, scheduler.nowMs)),
    )
    if (isMet) counters.count('endpoint deleted while in flight')
  }
}
