// F6: three faults on one payment. Its first update fails, the clock is ahead by more than the patience, so the second
// goes; its process dies before it has recorded that; the clock is right again.

import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'

const BEYOND_PATIENCE_MS = 61 * 60_000
const ENDED_MS_MAX = 120_000

export const patienceClockAhead: Scenario = {
  name: 'patience-clock-ahead',
  claim:
    'no older update follows a newer one, although the clock was beyond the patience when its process died',
  needs: ['libfaketime'],
  async perform(stage) {
    const first = await stage.serve()
    const { receiver } = await stage.register(first)
    receiver.answer = 500
    const paymentId = await stage.put(first)
    await receiver.hasSeen(({ received }) => received.length >= 1)
    await until('the failure is recorded', async () => {
      const rows = await stage.query(
        'select from paybell.pending_deliveries where payment_id = $1 and first_failed_at is not null',
        [paymentId],
      )
      return rows.length > 0
    })
    // The newer one is processed, and its process dies before the answer is there.
    const killed = new Promise<void>((resolve) => {
      receiver.answer = (received) => {
        if (Number(received.headers['x-paybell-sequence']) < 2) return 500
        void first.end('SIGKILL').then(() => resolve())
        return 'hang'
      }
    })
    await stage.put(first, 2, paymentId)
    await stage.setClock(BEYOND_PATIENCE_MS)
    await killed
    stage.note('update 2 was received, and its process is dead')
    const receivedBefore = receiver.received.length
    receiver.answer = 200
    await stage.setClock(0)
    await stage.serve()
    await until(
      'both updates have ended',
      async () => {
        const rows = await stage.query(
          'select from paybell.pending_deliveries where payment_id = $1',
          [paymentId],
        )
        return rows.length === 0
      },
      ENDED_MS_MAX,
    )
    const sequences = receiver.sequences(receiver.received.slice(receivedBefore))
    stage.note(`afterwards it got ${sequences.join(', ')}`)
    assert.ok(!sequences.includes(1), `update 2 was received, then: ${sequences.join(', ')}`)
  },
}
