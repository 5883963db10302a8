// A slice of the chaos, with nothing beside it: it judges how late things are, in spans that are a tenth of the usual.
// `npm run chaos` is the whole of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNatsServer } from '../support/nats-server.ts'
import { describe } from './report.ts'
import { runChaos } from './run.ts'
import { SMOKE } from './settings.ts'

test('F1, F4, F16, F19: three processes and their database are killed and stopped at random: nothing is lost, nothing out of order, no duplicate without a reason', async (t) => {
  // A fixed plan; `npm run chaos` draws a new one each time.
  const seed = Number(process.env.CHAOS_SEED ?? 11)
  const result = await runChaos({ suite: SMOKE, seed })
  t.diagnostic(describe(result).split('\n').slice(0, 1).join(''))
  const hasBroker = findNatsServer() !== null
  if (!hasBroker) t.diagnostic('without NATS: nats-server is not installed')
  assert.equal(result.verdict.violations.length, 0, describe(result))
  for (const feed of ['put', 'batch', 'sql', ...(hasBroker ? (['nats'] as const) : [])] as const) {
    assert.ok(result.feeds.get(feed), `nothing was fed by ${feed}`)
  }
  for (const what of ['killed', 'postmaster killed', ...(hasBroker ? ['NATS killed'] : [])]) {
    assert.ok(result.faults.get(what), `the seed ${seed} has never had: ${what}`)
  }
  const { figures } = result.verdict
  assert.ok((figures.delivered ?? 0) > 500, `${figures.delivered} delivered`)
})
