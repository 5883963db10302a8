// Processes that die, or seem to: how long nothing arrives after a kill, and that one whose session was ended although it
// lives sends nothing that another has taken over (decision 0089).

import assert from 'node:assert/strict'
import type { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'
import type { ServedProcess } from './served-process.ts'
import type { Stage } from './stage.ts'

const ROUNDS = 3
const WAIT_MS_MAX = 120_000
/** Each time they come back later: at once, after 1, 2 and 4 s. */
const ENDS_OF_SESSIONS = 4

export const killedAlone: Scenario = {
  name: 'killed-alone',
  claim:
    'the only process, killed and started again at once, goes on after seconds, not after a lease',
  needs: [],
  async perform(stage) {
    let served = await stage.serve()
    const { receiver } = await stage.register(served)
    const silences: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await untilSettled(stage)
      await hasAll(receiver, await putMany(stage, served, 20))
      const killedAtMs = Date.now()
      // What it had accepted, and what comes in as soon as there is a process again.
      const before = await putMany(stage, served, 5)
      await served.end('SIGKILL')
      served = await stage.serve()
      const readyMs = Date.now() - killedAtMs
      await untilTakenEarly(stage)
      const paymentId = await stage.put(served)
      await hasAll(receiver, [...before, paymentId])
      const silentMs = silenceOf(receiver, killedAtMs)
      silences.push(silentMs)
      stage.note(`killed: ready again after ${readyMs} ms, ${silentMs} ms without a callback`)
    }
    report(stage, silences)
  },
}

export const killedBeside: Scenario = {
  name: 'killed-beside',
  claim: 'when one of two processes is killed, the other takes its place within seconds',
  needs: [],
  async perform(stage) {
    let [one, other] = [await stage.serve(), await stage.serve()]
    // Enough endpoints that both processes have some.
    const endpoints = await Promise.all(Array.from({ length: 8 }, () => stage.register(one)))
    const silences: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await untilShared(stage)
      await untilSettled(stage)
      const before = await putMany(stage, other, 3)
      for (const { receiver } of endpoints) await hasAll(receiver, before)
      const killedAtMs = Date.now()
      await one.end('SIGKILL')
      const after = await putMany(stage, other, 3)
      await untilTakenEarly(stage)
      for (const { receiver } of endpoints) await hasAll(receiver, after)
      const silentMs = Math.max(
        ...endpoints.map(({ receiver }) => firstOf(receiver, after) - killedAtMs),
      )
      silences.push(silentMs)
      stage.note(`one of two killed: ${silentMs} ms until the last endpoint heard again`)
      one = other
      other = await stage.serve()
    }
    report(stage, silences)
  },
}

export const frozenAndCut: Scenario = {
  name: 'frozen-and-cut',
  claim:
    'a process that is frozen while its sessions are ended is replaced, and sends nothing when it goes on',
  needs: [],
  async perform(stage) {
    // So slowly that most of what is owed is in the memory of the process that is frozen.
    const frozen = await stage.serve({ PAYBELL_ENDPOINT_RATE: '5' })
    const { receiver } = await stage.register(frozen)
    const ids = await putMany(stage, frozen, 60)
    const newer = ids.slice(0, 30)
    for (const id of newer) await stage.put(frozen, 2, id)
    await receiver.hasSeen(({ accepted }) => accepted.length > 3)
    frozen.signal('SIGSTOP')
    const frozenAtMs = Date.now()
    const hadMs = receiver.received.length
    await stage.query(`select pg_terminate_backend(pid) from pg_stat_activity
                       where application_name like 'paybell%'`)
    const other = await stage.serve()
    const after = await stage.put(other)
    await hasAll(receiver, [...ids, after])
    stage.note(`frozen and cut: another goes on after ${silenceOf(receiver, frozenAtMs)} ms`)
    await until('all updates are there', () => updatesOf(receiver).length >= 91, WAIT_MS_MAX)
    const seen = receiver.received.length
    frozen.signal('SIGCONT')
    // By then it has renewed its leases, and knows.
    await until(
      'it has noticed',
      () => frozen.printed.includes('"msg":"sign.lost"') && isServing(frozen),
      WAIT_MS_MAX,
    )
    await stage.put(frozen)
    await until('it is served', () => updatesOf(receiver).length >= 92, WAIT_MS_MAX)
    assert.equal(receiver.received.length, seen + 1, 'the frozen one has sent something')
    // What was under way when it was frozen, at most: 5 a second.
    const twice = receiver.received.length - updatesOf(receiver).length
    stage.note(`${hadMs} had arrived before; ${twice} came twice`)
    assert.ok(twice <= 5, `${twice} came twice`)
    assertInOrder(receiver)
  },
}

export const sessionsEnded: Scenario = {
  name: 'sessions-ended',
  claim: 'a process whose session is ended again and again goes on, and sends nothing twice',
  needs: [],
  async perform(stage) {
    const [one] = [await stage.serve(), await stage.serve()]
    const { receiver } = await stage.register(one)
    await untilShared(stage)
    const ids: string[] = []
    for (let round = 0; round < ENDS_OF_SESSIONS; round++) {
      await untilSigned(stage)
      const rows = await stage.query(`select pg_terminate_backend(pid) from pg_stat_activity
                                      where application_name = 'paybell sign'`)
      stage.note(`${rows.length} sessions ended`)
      ids.push(...(await putMany(stage, one, 4)))
    }
    await hasAll(receiver, ids)
    assert.equal(receiver.received.length, ids.length)
  },
}

async function putMany(stage: Stage, served: ServedProcess, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await stage.put(served))
  return ids
}

async function hasAll(receiver: Receiver, ids: readonly string[]): Promise<void> {
  await until(
    'all payments have arrived',
    () => {
      const seen = new Set(receiver.accepted.map(({ body }) => idOf(body)))
      return ids.every((id) => seen.has(id))
    },
    WAIT_MS_MAX,
  )
}

/** Both processes have a share, so that the death of either leaves shards behind. */
async function untilShared(stage: Stage): Promise<void> {
  await until(
    'both have shards',
    async () => {
      const rows = await stage.query<{ shards: number }>(
        `select count(*)::int as shards from paybell.leases where owner in
           (select id from paybell.processes where sign is not null) group by owner`,
      )
      return rows.length === 2 && rows.every(({ shards }) => shards === 32)
    },
    WAIT_MS_MAX,
  )
}

/** No lease has an aftermath: with a second death before that, it would be taken after its whole time. */
async function untilSettled(stage: Stage): Promise<void> {
  await until(
    'no aftermath lasts',
    async () => (await stage.query('select from paybell.leases where is_early')).length === 0,
    WAIT_MS_MAX,
  )
}

/**
 * What a dead process had was taken before its lease ended. How many seconds that took is printed: on a busy machine it
 * says nothing, but the way does. Without it a lease is watched for its whole time, and is not early.
 */
async function untilTakenEarly(stage: Stage): Promise<void> {
  await until(
    'leases were taken early',
    async () => (await stage.query('select from paybell.leases where is_early')).length > 0,
    WAIT_MS_MAX,
  )
}

/** Both processes have the session that is their sign. */
async function untilSigned(stage: Stage): Promise<void> {
  await until(
    'both have a sign',
    async () => {
      const rows = await stage.query(
        `select from pg_stat_activity where application_name = 'paybell sign'`,
      )
      return rows.length === 2
    },
    WAIT_MS_MAX,
  )
}

/** The longest time without a callback since shortly before then. */
function silenceOf(receiver: Receiver, sinceMs: number): number {
  const times = receiver.received.map(({ atMs }) => atMs).filter((atMs) => atMs > sinceMs)
  const gaps = [sinceMs, ...times].map((atMs, index) => (times[index] ?? atMs) - atMs)
  return Math.max(...gaps)
}

function firstOf(receiver: Receiver, ids: readonly string[]): number {
  return Math.min(
    ...receiver.accepted.filter(({ body }) => ids.includes(idOf(body))).map(({ atMs }) => atMs),
  )
}

function updatesOf(receiver: Receiver): string[] {
  return [...new Set(receiver.accepted.map(({ headers }) => String(headers['webhook-id'])))]
}

function isServing({ baseUrl }: ServedProcess): Promise<boolean> {
  return fetch(`${baseUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

function assertInOrder(receiver: Receiver): void {
  const newest = new Map<string, number>()
  for (const { headers, body } of receiver.accepted) {
    const sequence = Number(headers['x-paybell-sequence'])
    const before = newest.get(idOf(body)) ?? 0
    assert.ok(sequence >= before, `update ${sequence} after ${before}`)
    newest.set(idOf(body), sequence)
  }
}

function report(stage: Stage, silences: readonly number[]): void {
  const sorted = silences.toSorted((one, other) => one - other)
  const median = sorted[Math.floor(sorted.length / 2)] as number
  const most = sorted.at(-1) as number
  stage.note(`silence after kill -9: p50 ${median} ms, max ${most} ms, of ${sorted.length}`)
}

function idOf(body: Buffer): string {
  return (JSON.parse(body.toString()) as { id: string }).id
}
