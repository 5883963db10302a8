// Gauges and statistics, by the same rule: what waits for an endpoint that is down is not due.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { PROBE_OVERDUE_MS } from '../../core/delivery/due.ts'
import { readDatabaseGauges } from '../history/service-figures.ts'
import { readOwedPicture } from '../history/stats.ts'

const { pool } = await cloneDatabase()
const NOW = new Date('2026-03-02T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)

async function count() {
  const { due, scheduled, paused, oldestDueAtMs } = await readDatabaseGauges(pool, NOW, 10_000)
  const picture = await readOwedPicture(pool, [NOW, at(60_000)])
  const gauges = { due, scheduled, paused, oldestDueAtMs }
  const { oldestDueAt, byBound, ...counts } = picture
  assert.deepEqual({ ...counts, oldestDueAtMs: oldestDueAt?.getTime() ?? null }, gauges)
  assert.equal(byBound[0], due)
  return gauges
}

test('what waits for an endpoint that is down is not due, until its probe is overdue by a minute', async () => {
  const { clientKey } = await storeClient(pool)
  const [well, down] = [await storeEndpoint(pool, clientKey), await storeEndpoint(pool, clientKey)]
  const setProbe = (circuit: string, probeAt: Date | null) =>
    pool.query(
      `insert into endpoint_health (client_key, endpoint_id, circuit, next_probe_at)
       values ($1, $2, $3, $4)
       on conflict (client_key, endpoint_id) do update set circuit = $3, next_probe_at = $4`,
      [clientKey, down.endpointId, circuit, probeAt],
    )
  await storePending(pool, well, { next_attempt_at: at(-5_000) })
  for (const next_attempt_at of [at(-3_600_000), at(-1_000), at(30_000), null]) {
    await storePending(pool, down, { next_attempt_at })
  }
  const waiting = { due: 1, scheduled: 1, paused: 3, oldestDueAtMs: at(-5_000).getTime() }
  const dueAgain = { due: 3, scheduled: 1, paused: 1, oldestDueAtMs: at(-3_600_000).getTime() }
  await setProbe('OPEN', at(120_000))
  assert.deepEqual(await count(), waiting)
  // While a probe is under way.
  await setProbe('HALF_OPEN', at(-15_000))
  assert.deepEqual(await count(), waiting)
  await setProbe('OPEN', at(-PROBE_OVERDUE_MS))
  assert.deepEqual(await count(), dueAgain)
  await setProbe('CLOSED', null)
  assert.deepEqual(await count(), dueAgain)
})
