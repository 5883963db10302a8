// The delivery store as one process sees it: the twin across a network. A call travels, is applied
// (atomically) or not, and its answer travels back, or is lost: the caller cannot tell "not applied"
// from "applied, answer lost". Nothing hangs for longer than the pool's own time-out.

import type { LeasePolicy } from '../../server/core/delivery/lease.ts'
import type { DeliveryStore } from '../../server/delivery/seams/delivery-store.ts'
import type { Dice } from './dice.ts'
import type { Twin } from './twin.ts'

/** createPool in server/store/connection/db.ts: the server gives up after 9.5 s, the client after 10 s. */
const QUERY_MS_MAX = 10_000

export interface StoreWeather {
  /** One way, at most; small values are as likely as large ones are rare. */
  delayMsMax: number
  /** Shares of calls that fail without effect, and whose answer is lost after they were applied. */
  unapplied: number
  answerLost: number
  hang: number
}

export const FAIR_WEATHER: StoreWeather = { delayMsMax: 4, unapplied: 0, answerLost: 0, hang: 0 }

/** What the store needs of its process and of the world. */
export interface StoreLink {
  dice: Dice
  weather(): StoreWeather
  isPartitioned(): boolean
  /** Locks are held on the leases: renewals fail or are answered late, recordings are slow. */
  isStarved(): boolean
  /** Runs in the world, whatever becomes of the process. */
  travel(ms: number, label: string, run: () => void): () => void
  /** Runs in the process, if it is still alive and when it is awake. */
  arrive(ms: number, label: string, run: () => void): void
  databaseMs(): number
  /** A renewal is sent; to be called when it is answered: the process knows again what is its own. */
  beginRenewal(): () => void
  onStoreFault(kind: 'unapplied' | 'answer-lost' | 'hang' | 'partition', label: string): void
}

/** `apply` may take its time at the database: others come between. */
export function call<T>(link: StoreLink, label: string, apply: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const { dice } = link
    const weather = link.weather()
    const fail = (ms: number, why: string, code?: string) =>
      link.arrive(ms, `${label}: ${why}`, () =>
        reject(Object.assign(new Error(`store: ${why}`), code === undefined ? {} : { code })),
      )
    const delay = () => dice.skewed(0.2, weather.delayMsMax)
    if (link.isPartitioned()) {
      link.onStoreFault('partition', label)
      if (dice.chance(0.5)) fail(dice.between(1, 100), 'connection refused', 'ECONNREFUSED')
      else fail(dice.between(5_000, QUERY_MS_MAX), 'connection timed out', 'ETIMEDOUT')
      return
    }
    const isLeaseCall = label === 'renewLeases' || label === 'takeLeases'
    const isStarved = link.isStarved()
    if (isStarved && isLeaseCall && dice.chance(0.85)) {
      fail(dice.between(10, 2_000), 'lock not available', '55P03')
      return
    }
    const draw = dice.next()
    if (draw < weather.unapplied) {
      link.onStoreFault('unapplied', label)
      fail(delay(), 'connection terminated before')
      return
    }
    const isLost = draw < weather.unapplied + weather.answerLost
    const isHanging = !isLost && draw < weather.unapplied + weather.answerLost + weather.hang
    if (isHanging) link.onStoreFault('hang', label)
    // A call that hangs may still be applied, long after its caller has given up on it.
    const isSlow = isHanging || (isStarved && label === 'recordOutcomes' && dice.chance(0.5))
    const applyAfterMs = isSlow ? dice.between(1_000, 10_000) : delay()
    const answerAfterMs = isStarved && isLeaseCall ? dice.between(1_000, 10_500) : delay()
    const isCertain = !isHanging || dice.chance(0.5)
    if (isHanging) fail(QUERY_MS_MAX, 'query read timeout')
    if (!isCertain) return
    const refuse = (error: unknown) => {
      if (!isHanging) link.arrive(delay(), label, () => reject(error))
    }
    const answer = (answered: T) => {
      if (isHanging) return
      if (isLost || link.isPartitioned()) {
        link.onStoreFault('answer-lost', label)
        fail(isLost ? delay() : QUERY_MS_MAX, 'connection terminated')
      } else link.arrive(dice.chance(0.3) ? 0 : answerAfterMs, label, () => resolve(answered))
    }
    link.travel(applyAfterMs, label, () => {
      try {
        const applied = apply()
        if (applied instanceof Promise) applied.then(answer, refuse)
        else answer(applied)
      } catch (error) {
        refuse(error)
      }
    })
  })
}

export function nodeStore(
  link: StoreLink,
  twin: Twin,
  processId: string,
  { leaseMs }: LeasePolicy,
): DeliveryStore {
  const ask = <T>(label: string, apply: () => T) => call(link, label, apply)
  return {
    renewLeases: async (gone, sign, settled, ended) => {
      const onAnswered = link.beginRenewal()
      const renewal = await ask('renewLeases', () =>
        twin.leases.renewLeases(processId, leaseMs, gone, sign, settled, ended, link.databaseMs()),
      )
      onAnswered()
      return renewal
    },
    takeLeases: (wanted, marks, early) =>
      ask('takeLeases', () =>
        twin.leases.takeLeases(processId, wanted, leaseMs, marks, early, link.databaseMs()),
      ),
    releaseLeases: (leases) => {
      const given = leases.map((lease) => ({ ...lease }))
      return ask('releaseLeases', () => twin.leases.releaseLeases(processId, given))
    },
    leave: (busy) => ask('leave', () => twin.leases.leave(processId, busy)),
    readDue: (cursors, untilMs, limit) => {
      const given = [...cursors]
      return ask('readDue', () => twin.reads.readDue(given, untilMs, limit))
    },
    readStrands: (keys, limit) => ask('readStrands', () => twin.reads.readStrands(keys, limit)),
    readEndpoints: (keys) => ask('readEndpoints', () => twin.reads.readEndpoints(keys)),
    readChangedEndpoints: (sinceMs, afterId, limit) =>
      ask('readChangedEndpoints', () => twin.reads.readChangedEndpoints(sinceMs, afterId, limit)),
    readPayloads: (keys) => ask('readPayloads', () => twin.reads.readPayloads(keys)),
    readFile: () => ask('readFile', () => null),
    readParkedLanes: (shards) => ask('readParkedLanes', () => twin.reads.readParkedLanes(shards)),
    readParked: (lane, afterId, limit) => {
      const key = { clientKey: lane.clientKey, endpointId: lane.endpointId, shard: lane.shard }
      return ask('readParked', () => twin.reads.readParked(key, afterId, limit))
    },
    recordOutcomes: (records, nowMs) =>
      ask('recordOutcomes', () => twin.outcomes.recordOutcomes(records, nowMs)),
    bringForward: (lease, latestMs, limit) =>
      ask('bringForward', () => twin.outcomes.bringForward(lease, latestMs, limit)),
    beginRuns: (deliveries, nowMs, deadlineMs) =>
      ask('beginRuns', () => twin.outcomes.beginRuns(deliveries, nowMs, deadlineMs)),
    postpone: (postponed) => ask('postpone', () => twin.outcomes.postpone(postponed)),
    park: (deliveries) => ask('park', () => twin.outcomes.park(deliveries)),
    exhaustParked: (lane, page, nowMs) =>
      ask('exhaustParked', () => twin.outcomes.exhaustParked(lane, page, nowMs)),
    exhaust: (deliveries, nowMs) => ask('exhaust', () => twin.outcomes.exhaust(deliveries, nowMs)),
    disableFailing: (shards, sinceMs, nowMs) =>
      ask('disableFailing', () => twin.outcomes.disableFailing(shards, sinceMs, nowMs)),
    settleInactive: (deliveries, nowMs) =>
      ask('settleInactive', () => twin.outcomes.settleInactive(deliveries, nowMs)),
    readShownHealth: (keys) => ask('readShownHealth', () => twin.reads.readShownHealth(keys)),
    saveHealth: (deltas, nowMs) => ask('saveHealth', () => twin.outcomes.saveHealth(deltas, nowMs)),
  }
}
