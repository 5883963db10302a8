// Faults as they strike processes, and the record of them.

import type { Counters } from './counters.ts'
import { SECOND } from './durations.ts'
import type { SimulatedNode } from './node.ts'
import type { FaultPlan, Plan } from './plan.ts'
import { type FaultAct, isInFlight, type ReceivedRequest } from './records.ts'
import type { Scheduler } from './scheduler.ts'

const ASLEEP = 'machine asleep beyond its lease'
const FROZEN_AT_SEND = 'process frozen as it sends, beyond its lease'
const FROZEN_AND_CUT = 'process frozen, and its session cut'
const PAUSED = 'machine paused beyond its lease'
const JUMPED = 'database clock jumps by minutes'

export interface FaultyWorld {
  plan: Plan
  scheduler: Scheduler
  counters: Counters
  nodes: readonly SimulatedNode[]
  requests: readonly ReceivedRequest[]
}

export class Faults {
  readonly acts: FaultAct[] = []
  databaseOffsetMs = 0
  readonly #world: FaultyWorld

  constructor(world: FaultyWorld) {
    this.#world = world
  }

  /** Brings a node down now, and up again later. */
  crash(number: number, downMs: number): void {
    const node = this.#world.nodes[number]
    if (!node?.isUp) return
    const { nowMs } = this.#world.scheduler
    this.#fault('crash', node.name, downMs)
    if (this.#world.requests.some((request) => isInFlight(request, node.name, nowMs))) {
      this.#world.counters.count('crash with an attempt in flight')
    }
    node.crash()
    this.#world.scheduler.after(downMs, `${node.name} starts again`, () => node.start())
  }

  strike(fault: FaultPlan): void {
    const node = this.#world.nodes[fault.node]
    if (!node) return
    switch (fault.kind) {
      case 'crash':
        this.crash(fault.node, fault.lengthMs)
        break
      case 'stall':
        if (fault.isAtSend) node.stallAtSend(() => this.#stallAtSend(node, fault))
        else this.#stall(node, fault)
        break
      case 'partition':
        this.#fault('partition', node.name, fault.lengthMs)
        node.partition(fault.lengthMs)
        if (fault.isCut) node.cut()
        break
      case 'cut':
        this.#fault('cut', node.name, fault.lengthMs)
        node.cut(fault.lengthMs)
        break
      case 'starve':
        this.#fault('starve', node.name, fault.lengthMs)
        node.starve(fault.lengthMs)
        break
      case 'sleep':
        this.#fault('sleep', node.name, fault.lengthMs)
        if (node.isUp && this.#isBeyondLease(fault)) this.#world.counters.count(ASLEEP)
        node.sleep(fault.lengthMs)
        break
      case 'pause':
        // Until it has renewed its leases; it may never come to that.
        this.#fault('pause', node.name, Number.POSITIVE_INFINITY)
        node.pause(fault.lengthMs, this.acts.at(-1) as FaultAct)
        if (node.isUp && this.#isBeyondLease(fault)) this.#world.counters.count(PAUSED)
        break
      case 'wall-clock':
        this.#fault('wall-clock', node.name, 0)
        node.setWall(fault.lengthMs)
        break
      case 'stop':
        this.#stop(node, fault.lengthMs)
        break
      case 'database-clock':
        this.#fault('database-clock', node.name, 0, fault.lengthMs < this.databaseOffsetMs)
        this.databaseOffsetMs = fault.lengthMs
        if (Math.abs(fault.lengthMs) > 10 * SECOND) this.#world.counters.count(JUMPED)
        break
    }
  }

  #stallAtSend(node: SimulatedNode, fault: FaultPlan): void {
    if (this.#isBeyondLease(fault)) this.#world.counters.count(FROZEN_AT_SEND)
    this.#stall(node, fault)
  }

  #stall(node: SimulatedNode, { lengthMs, isCut }: FaultPlan): void {
    this.#fault('stall', node.name, lengthMs)
    node.stall(lengthMs)
    if (isCut && node.cut() && this.#world.nodes.length > 1)
      this.#world.counters.count(FROZEN_AND_CUT)
  }

  #isBeyondLease({ lengthMs }: FaultPlan): boolean {
    return lengthMs > this.#world.plan.options.leases.leaseMs && this.#world.nodes.length > 1
  }

  /** The span of the fault is the stopping itself; it ends when the process is gone. */
  #stop(node: SimulatedNode, downMs: number): void {
    if (!node.isUp) return
    this.#fault('stop', node.name, Number.POSITIVE_INFINITY)
    const act = this.acts.at(-1) as FaultAct
    node.stop(() => {
      act.untilMs = this.#world.scheduler.nowMs
      this.#world.scheduler.after(downMs, `${node.name} starts again`, () => node.start())
    })
  }

  #fault(kind: FaultAct['kind'], node: string, lengthMs: number, isSetBack = false): void {
    const fromMs = this.#world.scheduler.nowMs
    this.acts.push({ kind, node, fromMs, untilMs: fromMs + lengthMs, isSetBack })
    this.#world.counters.count(`fault: ${kind}`)
  }
}
