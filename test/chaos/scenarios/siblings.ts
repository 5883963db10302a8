// `paybell serve --processes 2` under load, and one of the two killed again and again, in turn: nothing is lost and no
// update comes after a newer one. Seconds are printed and judge nothing.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { startTally, type Tally } from './arrival-tally.ts'
import { childrenOf } from './process-family.ts'
import type { Scenario } from './scenario.ts'
import type { ServedProcess } from './served-process.ts'
import { SHARED_KEY, type Stage } from './stage.ts'

/** Enough that both processes have some. */
const ENDPOINTS = 8
const WRITERS = 4
/** Updates of one payment, one after the other: their order is what a take-over could break. */
const UPDATES_EACH = 5
/** Accepting is faster than delivering, all the more while shards have no owner: without a bound it would take long to drain. */
const UNDER_WAY_MAX = 2_000
const WAIT_MS_MAX = 180_000

export const siblingsKilled: Scenario = {
  name: 'siblings-killed',
  claim:
    'of two processes of one parent either is killed under load, and nothing is lost or inverted',
  needs: [],
  // Each kill once both have had their share again, however long that takes.
  perform: (stage) => killSiblings(stage, { kills: 3, pause: () => untilShared(stage) }),
}

export const siblingsKilledForMinutes: Scenario = {
  name: 'siblings-killed-for-minutes',
  claim: 'a sibling is killed each 10 s for 5 minutes under load, and nothing is lost or inverted',
  needs: [],
  perform: (stage) => killSiblings(stage, { kills: 30, pause: () => delay(10_000) }),
}

interface Kills {
  kills: number
  /** Before each of them. */
  pause(): Promise<unknown>
}

async function killSiblings(stage: Stage, { kills, pause }: Kills): Promise<void> {
  // Where both are dead for a moment the port is closed, and then it should be the same.
  const served = await stage.serve({ PAYBELL_PROCESSES: '2', PORT: `${await freePort()}` })
  const tally = await startTally(stage)
  for (let number = 0; number < ENDPOINTS; number++) {
    const body = { callbackUrl: tally.url(number), sharedKey: SHARED_KEY }
    await stage.asClient(served, 'POST', '/v1/webhooks/register', body)
  }
  await untilShared(stage)
  const load = writeUntilStopped(stage, served, tally)
  const watch = watchOwners(stage)
  for (let kill = 0; kill < kills; kill++) {
    await pause()
    const before = await untilTwoLive(stage)
    const pid = childrenOf(served.pid)[kill % 2]
    assert.ok(pid !== undefined, 'there are two children')
    stage.note(`kill -9 of ${pid}`)
    process.kill(pid, 'SIGKILL')
    const hasEnded = async () => {
      const live = await liveProcesses(stage)
      return before.some((id) => !live.includes(id))
    }
    await until('its session has ended', hasEnded, WAIT_MS_MAX)
  }
  await untilShared(stage)
  const takeOvers = await watch.stop()
  const payments = await load.stop()
  await until('nothing is pending', () => isSettled(stage), WAIT_MS_MAX)
  report(stage, payments, tally, takeOvers)
  await served.end('SIGTERM')
}

/** For how long a shard's owner was dead, of each shard that a dead one had. */
function watchOwners(stage: Stage) {
  const deadSince = new Map<number, number>()
  const takeOvers: number[] = []
  let isStopped = false
  stage.after(() => {
    isStopped = true
  })
  const look = async () => {
    const atMs = performance.now()
    const dead = new Set(await ownerlessShards(stage))
    for (const shard of dead) if (!deadSince.has(shard)) deadSince.set(shard, atMs)
    for (const [shard, sinceMs] of deadSince) {
      if (dead.has(shard)) continue
      takeOvers.push(atMs - sinceMs)
      deadSince.delete(shard)
    }
  }
  const looking = (async () => {
    for (; !isStopped; await delay(50)) await look()
    await look()
  })()
  looking.catch(() => {})
  return {
    async stop(): Promise<readonly number[]> {
      isStopped = true
      await looking
      return takeOvers
    },
  }
}

/** Processes whose session, which is their sign, has not ended. */
const LIVE = `select id from paybell.processes where split_part(sign, '/', 2) in (
  select objid::text from pg_locks where locktype = 'advisory')`

async function ownerlessShards(stage: Stage): Promise<readonly number[]> {
  const rows = await stage.query<{ shard: number }>(
    `select shard from paybell.leases where owner is null or owner not in (${LIVE})`,
  )
  return rows.map(({ shard }) => shard)
}

/** With the number of their shards. */
async function liveOwners(stage: Stage): Promise<ReadonlyMap<string, number>> {
  const rows = await stage.query<{ owner: string; shards: number }>(
    `select owner, count(*)::int as shards from paybell.leases where owner in (${LIVE}) group by owner`,
  )
  return new Map(rows.map(({ owner, shards }) => [owner, shards]))
}

async function liveProcesses(stage: Stage): Promise<readonly string[]> {
  return (await stage.query<{ id: string }>(LIVE)).map(({ id }) => id)
}

/** They have started; what they own is another matter, since a lease that was taken early is not given away soon. */
async function untilTwoLive(stage: Stage): Promise<readonly string[]> {
  return until(
    'two processes have started',
    async () => {
      const live = await liveProcesses(stage)
      return live.length === 2 && live
    },
    WAIT_MS_MAX,
  )
}

async function untilShared(stage: Stage): Promise<void> {
  await until(
    'both have their share',
    async () => {
      const shares = [...(await liveOwners(stage)).values()]
      return shares.length === 2 && shares.every((shards) => shards === 32)
    },
    WAIT_MS_MAX,
  )
}

async function isSettled(stage: Stage): Promise<boolean> {
  return (await stage.query('select from paybell.pending_deliveries limit 1')).length === 0
}

/** Writes new payments and their updates, each again until it is accepted. */
function writeUntilStopped(stage: Stage, served: ServedProcess, tally: Tally) {
  let isStopped = false
  stage.after(() => {
    isStopped = true
  })
  const payments: string[] = []
  let accepted = 0
  const isBehind = () => accepted * ENDPOINTS - tally.arrived > UNDER_WAY_MAX
  const write = async () => {
    while (!isStopped) {
      const id = randomUUID()
      await until('deliveries keep up', () => !isBehind(), WAIT_MS_MAX)
      for (let version = 1; version <= UPDATES_EACH; version++) {
        await until('it is accepted', () => isAccepted(stage, served, version, id), WAIT_MS_MAX)
        accepted++
      }
      payments.push(id)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, write))
  // Waited for at the end; until then a failure is not unhandled.
  writing.catch(() => {})
  return {
    async stop(): Promise<readonly string[]> {
      isStopped = true
      await writing
      return payments
    },
  }
}

/** A connection may end with the process that had it: what that had accepted is harmless to write again. */
function isAccepted(stage: Stage, served: ServedProcess, version: number, id: string) {
  return stage.put(served, version, id).then(
    () => true,
    () => false,
  )
}

function report(
  stage: Stage,
  payments: readonly string[],
  tally: Tally,
  takeOvers: readonly number[],
): void {
  const wanted = payments.length * UPDATES_EACH * ENDPOINTS
  let lost = 0
  for (let number = 0; number < ENDPOINTS; number++) {
    for (const id of payments) {
      for (let sequence = 1; sequence <= UPDATES_EACH; sequence++) {
        if (!tally.has(number, id, sequence)) lost++
      }
    }
  }
  const sorted = takeOvers.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  stage.note(
    `${sorted.length} shards taken over: p50 ${at(0.5)} ms, p75 ${at(0.75)} ms, max ${at(1)} ms`,
  )
  stage.note(
    `${wanted} deliveries: ${lost} lost, ${tally.inverted} inverted, ${tally.repeated} repeated`,
  )
  assert.ok(wanted > 0, 'nothing was written')
  assert.deepEqual({ lost, inverted: tally.inverted }, { lost: 0, inverted: 0 })
}
