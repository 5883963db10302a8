// F3: statements under a clock that is wrong. One is asked for while the database's clock is 2 hours ahead, so that the
// hour that is open seems over; and one of an hour that was kept before a server took over whose clock was behind.
// Before, both were final, kept and signed, and what came afterwards was in none. Ids never fall within a process, so
// one is started anew wherever events are to be dated by a clock that has gone back.

import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'
import type { ServedProcess } from './served-process.ts'
import type { Stage } from './stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Asked so often, and as long as it takes until transactions of that moment have ended. */
const ASKED_TIMES = 20
const ENDED_MS_MAX = 60_000

interface Said {
  isFinal: boolean
  owed: number
  delivered: number
}

export const statementClockAhead: Scenario = {
  name: 'statement-clock-ahead',
  claim: 'no statement calls an hour final that is open, although the clock was 2 hours ahead',
  needs: ['libfaketime'],
  async perform(stage) {
    const { offsetMs, hour } = inTheMiddleOfAnHour()
    await stage.setClock(offsetMs)
    let served = await stage.serve()
    const asked = await stage.register(served)
    const unasked = await stage.register(served)
    for (let n = 0; n < 5; n++) await stage.put(served)
    for (const { id } of [asked, unasked]) await delivered(stage, served, id, hour, 5)
    await stage.jumpTo(offsetMs + 2 * HOUR_MS, served)
    const ahead = await askOften(stage, served, asked.id, hour)
    stage.note(`while the clock was ahead: ${JSON.stringify(ahead)}`)
    served = await restart(stage, served, offsetMs)
    const first = await askOften(stage, served, unasked.id, hour)
    stage.note(`another endpoint, asked for when the clock was right: ${JSON.stringify(first)}`)
    for (let n = 0; n < 10; n++) await stage.put(served)
    for (const { id, receiver } of [asked, unasked]) {
      await until('all have arrived', () => receiver.accepted.length >= 15, ENDED_MS_MAX)
      const { isFinal, owed } = await ask(stage, served, id, hour)
      stage.note(`afterwards: isFinal ${isFinal}, owed ${owed}; the receiver has 15`)
      assert.deepEqual({ isFinal, owed }, { isFinal: false, owed: 15 })
    }
    assert.ok(!ahead.isFinal && !first.isFinal, 'an hour that was open was called final')
  },
}

export const statementClockBehind: Scenario = {
  name: 'statement-clock-behind',
  claim: 'what a server whose clock is behind accepts is in the statement of an hour that was kept',
  needs: ['libfaketime'],
  async perform(stage) {
    const { offsetMs, hour } = inTheMiddleOfAnHour()
    const behindMs = offsetMs - 2 * HOUR_MS
    const past = hour - 2 * HOUR_MS
    // Each process starts with a clock that is behind that of its machine, which nothing doubts.
    await stage.setClock(behindMs)
    let served = await stage.serve()
    const { id, receiver } = await stage.register(served)
    for (let n = 0; n < 3; n++) await stage.put(served)
    await delivered(stage, served, id, past, 3)
    served = await restart(stage, served, offsetMs)
    const kept = await until('its hour is final', async () => {
      const said = await ask(stage, served, id, past)
      return said.isFinal ? said : null
    })
    stage.note(`2 hours later: ${JSON.stringify(kept)}`)
    assert.equal(kept.owed, 3)
    served = await restart(stage, served, behindMs)
    for (let n = 0; n < 4; n++) await stage.put(served)
    await until('the receiver has 7', () => receiver.accepted.length >= 7, ENDED_MS_MAX)
    served = await restart(stage, served, offsetMs)
    const { owed } = await ask(stage, served, id, past)
    stage.note(`after the clock was behind for a while: owed ${owed}; the receiver has 7`)
    assert.equal(owed, 7)
  },
}

/** How the clock has to be set back, by an hour at most, to be in the middle of an hour, and which one that is. */
function inTheMiddleOfAnHour(): { offsetMs: number; hour: number } {
  const nowMs = Date.now()
  const offsetMs = -((nowMs + 40 * MINUTE_MS) % HOUR_MS)
  return { offsetMs, hour: Math.floor((nowMs + offsetMs) / HOUR_MS) * HOUR_MS }
}

async function restart(stage: Stage, served: ServedProcess, clockMs: number) {
  await served.end('SIGTERM')
  await stage.setClock(clockMs)
  return stage.serve()
}

async function ask(stage: Stage, served: ServedProcess, id: string, hour: number): Promise<Said> {
  const [from, to] = [hour, hour + HOUR_MS].map((ms) => new Date(ms).toISOString())
  const path = `/v1/webhooks/${id}/statement?from=${from}&to=${to}`
  const { isFinal, owed, delivered } = await stage.asClient<Said>(served, 'GET', path)
  return { isFinal, owed, delivered }
}

async function askOften(...of: Parameters<typeof ask>): Promise<Said> {
  let said = await ask(...of)
  for (let times = 1; times < ASKED_TIMES && !said.isFinal; times++) said = await ask(...of)
  return said
}

async function delivered(
  stage: Stage,
  served: ServedProcess,
  id: string,
  hour: number,
  count: number,
): Promise<void> {
  const isDone = async () => (await ask(stage, served, id, hour)).delivered >= count
  await until(`${count} are delivered`, isDone, ENDED_MS_MAX)
}
