// The owners of endpoints: they register, rotate keys, pause, resume and delete. What they ask of single deliveries
// is in delivery-acts.

import type { Ask, Asking } from './asking.ts'
import {
  CLIENT_KEY,
  DeliveryActs,
  type DeliveryActsWorld,
  isDeliveryAct,
  isMet,
} from './delivery-acts.ts'
import { keyOf } from './key-ring.ts'
import type { ActPlan, EndpointPlan, Plan } from './plan.ts'
import type { Receiver } from './receivers.ts'
import type { EndpointAct, EndpointHistory, ReplayAct, RetryAct } from './records.ts'
import {
  changeDeliver,
  changeStatus,
  deleteEndpoint,
  registerEndpoint,
  rotateKey,
} from './twin-endpoints.ts'

export interface OwnersWorld extends DeliveryActsWorld {
  plan: Plan
  receivers: ReadonlyMap<string, Receiver>
  addReceiver(url: string, endpointId: string, number: number): Receiver
}

export class Owners {
  readonly endpoints: EndpointHistory[] = []
  readonly #deliveryActs: DeliveryActs
  readonly #world: OwnersWorld
  readonly #asking: Asking
  readonly #numbers = new Map<string, number>()
  #rotations = 0

  constructor(world: OwnersWorld, asking: Asking) {
    this.#world = world
    this.#asking = asking
    this.#deliveryActs = new DeliveryActs(world, (endpointId, kind, askedAtMs, node) =>
      this.#note(endpointId, kind, askedAtMs, node, null),
    )
  }

  get replays(): readonly ReplayAct[] {
    return this.#deliveryActs.replays
  }

  get retries(): readonly RetryAct[] {
    return this.#deliveryActs.retries
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
    this.endpoints.push({ id, accountId, events, acts: [], shard, deliver })
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
    if (isDeliveryAct(kind)) {
      this.#deliveryActs.do(ask, kind, id)
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
    if (isMet(this.#world, endpointId)) {
      this.#world.counters.count('endpoint deleted while in flight')
    }
  }
}
