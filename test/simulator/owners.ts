// The owners of endpoints: they register, rotate keys, pause, resume, delete, replay and retry.

import type { Ask, Asking } from './asking.ts'
import type { Counters } from './counters.ts'
import type { Dice } from './dice.ts'
import { keyOf } from './key-ring.ts'
import type { SimulatedNode } from './node.ts'
import type { ActPlan, EndpointPlan, Plan } from './plan.ts'
import type { Receiver } from './receivers.ts'
import {
  type EndpointAct,
  type EndpointHistory,
  isInFlight,
  type ReceivedRequest,
  type ReplayAct,
  type RetryAct,
} from './records.ts'
import type { Scheduler } from './scheduler.ts'
import type { Twin } from './twin.ts'
import {
  changeDeliver,
  changeStatus,
  deleteEndpoint,
  registerEndpoint,
  rotateKey,
} from './twin-endpoints.ts'
import { replayDelivery } from './twin-replays.ts'
import { retryDelivery, retryEndpoint } from './twin-retries.ts'
import { pendingOf } from './twin-tables.ts'

export const CLIENT_KEY = 1

export interface OwnersWorld {
  plan: Plan
  scheduler: Scheduler
  twin: Twin
  dice: Dice
  counters: Counters
  nodes: readonly SimulatedNode[]
  receivers: ReadonlyMap<string, Receiver>
  requests: readonly ReceivedRequest[]
  addReceiver(url: string, endpointId: string, number: number): Receiver
}

export class Owners {
  readonly endpoints: EndpointHistory[] = []
  readonly replays: ReplayAct[] = []
  readonly retries: RetryAct[] = []
  readonly #world: OwnersWorld
  readonly #asking: Asking
  readonly #numbers = new Map<string, number>()
  #rotations = 0

  constructor(world: OwnersWorld, asking: Asking) {
    this.#world = world
    this.#asking = asking
  }

  begin(): void {
    const { plan } = this.#world
    for (const [number, endpoint] of plan.endpoints.entries()) this.#introduce(number, endpoint)
    for (const act of plan.acts) this.#askFor(act)
  }

  numberOf(endpointId: string): number {
    return this.#numbers.get(endpointId) ?? -1
  }

  resumeAll(): void {
    for (const [number, history] of this.endpoints.entries()) {
      const endpoint = this.#world.twin.tables.endpoints.get(history.id)
      if (endpoint?.status !== 'PAUSED') continue
      this.#askFor({ kind: 'resume', endpoint: number, afterMs: 0 })
    }
  }

  noteDisabled(endpointId: string): void {
    const { nowMs } = this.#world.scheduler
    this.#note(endpointId, 'disable', nowMs, null, null).acknowledgedAtMs = nowMs
  }

  #askFor(act: ActPlan): void {
    this.#asking.later(act.afterMs, `${act.kind} is asked for`, (ask) => this.#act(ask, act))
  }

  #introduce(number: number, plan: EndpointPlan): void {
    const { scheduler, twin } = this.#world
    const id = `00000000-0000-4000-8000-00000000000${number}`
    const url = `https://e${number}.example/`
    const accountId = plan.account === null ? null : `account-${plan.account}`
    const key = keyOf(plan.keyName)
    const { shard, events, deliver } = plan
    const endpoint = { clientKey: CLIENT_KEY, id, accountId, shard, url, key, events, deliver }
    this.#numbers.set(id, number)
    this.endpoints.push({ id, accountId, events, acts: [], deliver })
    this.#world.addReceiver(url, id, number)
    if (plan.registeredAfterMs === 0) {
      registerEndpoint(twin, endpoint, scheduler.nowMs)
      const act = this.#note(id, 'register', scheduler.nowMs, null, plan.keyName)
      act.acknowledgedAtMs = scheduler.nowMs
      return
    }
    this.#asking.later(plan.registeredAfterMs, 'register is asked for', (ask) =>
      this.#control(ask, id, 'register', plan.keyName, (nowMs) => {
        if (twin.tables.endpoints.has(id)) return 'nothing'
        registerEndpoint(twin, endpoint, nowMs)
        return 'changed'
      }),
    )
  }

  #act(ask: Ask, { kind, endpoint: number }: ActPlan): void {
    const { twin, receivers } = this.#world
    const id = this.endpoints[number]?.id as string
    const before = () => twin.tables.endpoints.get(id)
    if (kind === 'replay') {
      this.#replay(ask, id)
    } else if (kind === 'retry' || kind === 'retry-endpoint') {
      this.#retry(ask, id, kind === 'retry')
    } else if (kind === 'rotate') {
      const keyName = `e${number}k${++this.#rotations}`
      // The receiver's owner knows the key before any process can sign with it.
      for (const receiver of receivers.values()) {
        if (receiver.endpointId === id) receiver.keyNames.unshift(keyName)
      }
      this.#control(ask, id, 'rotate', keyName, (nowMs) => {
        const isNew = before()?.key !== keyOf(keyName)
        return rotateKey(twin, id, keyOf(keyName), nowMs) && isNew ? 'changed' : 'nothing'
      })
    } else if (kind === 'deliver') {
      this.#control(ask, id, 'deliver', null, (nowMs) => {
        const other = before()?.deliver === 'latest' ? 'every' : 'latest'
        return changeDeliver(twin, id, other, nowMs) ? 'changed' : 'nothing'
      })
    } else if (kind === 'delete') {
      this.#control(ask, id, 'delete', null, (nowMs) => {
        if (!deleteEndpoint(twin, id, nowMs)) return 'nothing'
        this.#countDeletedInFlight(id)
        return 'changed'
      })
    } else {
      const status = kind === 'pause' ? 'PAUSED' : 'ACTIVE'
      this.#control(ask, id, kind, null, (nowMs) => {
        const isNew = before()?.status !== status
        return changeStatus(twin, id, status, nowMs) && isNew ? 'changed' : 'nothing'
      })
    }
  }

  /** An act on an endpoint, repeated until it is answered; the process that serves it knows at once. */
  #control(
    ask: Ask,
    endpointId: string,
    kind: EndpointAct['kind'],
    keyName: string | null,
    apply: (nowMs: number) => 'changed' | 'nothing',
  ): void {
    const { scheduler, twin } = this.#world
    const askedAtMs = scheduler.nowMs
    let act: EndpointAct | null = null
    ask.repeat(
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

  #replay(ask: Ask, endpointId: string): void {
    const { twin, dice, scheduler } = this.#world
    const candidates = [...twin.tables.final.values()].filter(
      (row) => row.endpointId === endpointId,
    )
    if (candidates.length === 0) {
      ask.drop()
      return
    }
    const { id } = dice.pick(candidates)
    ask.repeat(
      async (node) => {
        const nowMs = node.nowMs()
        await node.transact('replay', () => {
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

  /** One delivery that is pending by then, or all that the endpoint is owed. */
  #retry(ask: Ask, endpointId: string, isOfOne: boolean): void {
    const { twin, dice, scheduler } = this.#world
    const candidates = pendingOf(twin, CLIENT_KEY, endpointId)
    if (candidates.length === 0) {
      ask.drop()
      return
    }
    const { id, paymentId } = dice.pick(candidates)
    const askedAtMs = scheduler.nowMs
    ask.repeat(
      async (node) => {
        const nowMs = node.nowMs()
        await node.transact('retry', () => {
          const wasOpen = twin.tables.health.get(endpointId)?.circuit === 'OPEN'
          const owed = isOfOne
            ? retryDelivery(twin, id, nowMs)
            : retryEndpoint(twin, endpointId, nowMs)
          if (owed === null) return
          this.#countRetry(endpointId, wasOpen)
          this.#note(endpointId, 'retry', askedAtMs, node.name, null)
          this.retries.push({
            endpointId,
            paymentId: isOfOne ? paymentId : null,
            atMs: scheduler.nowMs,
            owed: owed.map((row) => row.id),
          })
        })
        const endpoint = twin.tables.endpoints.get(endpointId)
        if (endpoint) node.engine?.endpointChanged(CLIENT_KEY, endpointId, endpoint.shard, nowMs)
      },
      () => {},
    )
  }

  #countRetry(endpointId: string, wasOpen: boolean): void {
    const { counters } = this.#world
    counters.count('retry')
    if (wasOpen) counters.count('retry of an endpoint that is down')
    if (this.#isMet(endpointId)) counters.count('retry during an attempt')
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

  #countDeletedInFlight(endpointId: string): void {
    if (this.#isMet(endpointId)) this.#world.counters.count('endpoint deleted while in flight')
  }

  /** An attempt at the endpoint is under way. */
  #isMet(endpointId: string): boolean {
    const { requests, nodes, scheduler } = this.#world
    return requests.some(
      (request) =>
        request.endpointId === endpointId &&
        nodes.some(({ name }) => isInFlight(request, name, scheduler.nowMs)),
    )
  }
}
