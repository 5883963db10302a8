// F1: the database's clock is ahead for a while and goes back. What an endpoint may be sent by then is paced, by a rate
// or because it works off a backlog. Before, its next send waited until the clock had come to where it had been.

import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'

const AHEAD_MS = 300_000
/** The poll, the clock's own doubt and a busy machine: far from the jump. */
const RESUMED_MS_MAX = 40_000
const BACKLOG = 600

export const rateClockBack: Scenario = {
  name: 'rate-clock-back',
  claim: 'endpoints with a rate go on when the clock has gone back by 5 minutes',
  needs: ['libfaketime'],
  async perform(stage) {
    const served = await stage.serve({ PAYBELL_ENDPOINT_RATE: '100' })
    const { receiver } = await stage.register(served)
    const deliver = async (count: number, what: string) => {
      const before = receiver.accepted.length
      for (let n = 0; n < count; n++) await stage.put(served)
      const beganAtMs = performance.now()
      const arrived = () => receiver.accepted.length >= before + count
      await until(`${count} callbacks ${what}`, arrived, RESUMED_MS_MAX)
      stage.note(`${count} callbacks ${what}, in ${Math.round(performance.now() - beganAtMs)} ms`)
    }
    await deliver(5, 'with the right clock')
    await stage.jumpTo(AHEAD_MS, served)
    await deliver(5, 'while the clock is ahead')
    await stage.jumpTo(0, served)
    await deliver(5, 'after the clock went back')
  },
}

export const backlogClockBack: Scenario = {
  name: 'backlog-clock-back',
  claim: 'an endpoint works off its backlog when the clock goes back by 5 minutes in the middle',
  needs: ['libfaketime'],
  async perform(stage) {
    const served = await stage.serve()
    const { id, receiver } = await stage.register(served)
    const setStatus = (status: string) =>
      stage.asClient(served, 'PATCH', `/v1/webhooks/${id}`, { status })
    await setStatus('PAUSED')
    for (let n = 0; n < BACKLOG; n++) await stage.put(served)
    // Slow answers, so that the backlog lasts until the clock is right again.
    receiver.answer = (received, response) => {
      setTimeout(() => {
        received.status = 200
        response.writeHead(200).end()
      }, 400)
      return undefined
    }
    await stage.jumpTo(AHEAD_MS, served)
    await setStatus('ACTIVE')
    await until('the backlog is being worked off', () => receiver.received.length >= 40)
    await stage.jumpTo(0, served)
    const before = receiver.received.length
    assert.ok(
      before < BACKLOG,
      'the whole backlog went while the clock was ahead: nothing is shown',
    )
    receiver.answer = 200
    const beganAtMs = performance.now()
    const done = () => new Set(receiver.accepted.map(({ body }) => body.toString())).size >= BACKLOG
    await until('the whole backlog arrives', done, RESUMED_MS_MAX)
    const tookMs = Math.round(performance.now() - beganAtMs)
    stage.note(`${BACKLOG - before} callbacks after the clock went back, in ${tookMs} ms`)
  },
}
