// Due means due (decisions §12.4): one endpoint that is down, and nothing else, for an hour of the delivery clock. What
// it is owed waits for its probes: gauges, statistics, lists and explanations all say so, and no alert sees it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDatabaseGauges } from '../../server/store/history/service-figures.ts'
import { limitOf } from '../support/busy-machine.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const HOUR_MS = 3_600_000
const SCALE = 720
const PAYMENTS = 20

interface Stats {
  pending: { due: number; scheduled: number; paused: number }
  oldestDueAgeSeconds: number
  pendingByDue: readonly { count: number }[]
  troubled: readonly { nextProbeAt: string | null }[]
}

interface Item {
  id: string
  nextAttemptAt: string | null
}

test('what waits for an endpoint that is down is not due, wherever one looks', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer = 500
  const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: String(SCALE) } })
  const { caller, pool } = paybell
  const ask = async <T>(path: string) => (await (await caller.operate('GET', path)).json()) as T
  const webhookId = await caller.addWebhook(receiver.url(), 'key')
  for (let payment = 0; payment < PAYMENTS; payment++) {
    await caller.write()
  }
  const health = async () => {
    const found = await (await caller.getWebhook(webhookId)).json()
    return (found as { health: { circuit: string; nextProbeAt: string | null } }).health
  }
  await until('the circuit opens', async () => (await health()).circuit !== 'CLOSED')
  // The statistics are a second old at most.
  await until('the statistics tell', async () => {
    const { pending } = await ask<Stats>('/stats')
    return pending.due === 0 && pending.paused > 0
  })

  let looks = 0
  const beganAtMs = Date.now()
  await until(
    'an hour has passed',
    async () => {
      looks++
      const startedAtMs = Date.now() - 1_000
      const { due, paused, scheduled, oldestDueAtMs } = await readDatabaseGauges(
        pool,
        new Date(),
        limitOf(2_000),
      )
      assert.deepEqual([due, oldestDueAtMs], [0, null])
      assert.equal(paused + scheduled, PAYMENTS)
      const stats = await ask<Stats>('/stats')
      assert.deepEqual([stats.pending.due, stats.oldestDueAgeSeconds], [0, 0])
      assert.equal(stats.pendingByDue[0]?.count, 0)
      const { nextProbeAt } = await health()
      for (const probeAt of [nextProbeAt, stats.troubled[0]?.nextProbeAt]) {
        assert.ok(Date.parse(probeAt ?? '') >= startedAtMs, String(probeAt))
      }
      const list = await ask<{ items: Item[] }>('/deliveries?state=PENDING&limit=100')
      assert.equal(list.items.length, PAYMENTS)
      for (const item of list.items) {
        assert.ok(Date.parse(item.nextAttemptAt ?? '') >= startedAtMs, String(item.nextAttemptAt))
      }
      const { id } = list.items[looks % PAYMENTS] as Item
      const one = (await (await caller.get(`/v1/deliveries/${id}`)).json()) as Item & {
        explanation: string
      }
      assert.ok(Date.parse(one.nextAttemptAt ?? '') >= startedAtMs)
      assert.match(one.explanation, /is down\. Paybell probes it next|Next attempt in/)
      assert.doesNotMatch(one.explanation, /due now/)
      return Date.now() - beganAtMs > HOUR_MS / SCALE
    },
    120_000,
  )
  assert.ok(looks > 3, `${looks} looks`)
  const metrics = await (await fetch(`${paybell.baseUrl}/metrics`)).text()
  assert.match(metrics, /^paybell_deliveries_pending\{state="due"\} 0$/m)
  assert.match(metrics, /^paybell_delivery_oldest_due_age_seconds 0$/m)
})
