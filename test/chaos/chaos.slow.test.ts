// A minute of the chaos, drawn by the commit, with nothing beside it: it judges how late things are, in spans that are a tenth of
// the usual. `npm run chaos` is the whole of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNatsServer } from '../support/nats-server.ts'
import { drawNumber, sampleName } from '../support/sample.ts'
import { describe } from './report.ts'
import { runChaos } from './run.ts'
import { MINUTE } from './settings.ts'

test('F1, F4, F16, F19: processes, their database and brokers are killed, stopped and cut off at random: nothing is lost, nothing out of order, no duplicate without a reason', async (t) => {
  const seed = drawNumber(2 ** 31, 'chaos', sampleName())
  const again = `again: npm run chaos -- --suite ${MINUTE.name} --seed ${seed}`
  t.diagnostic(again)
  const result = await runChaos({ suite: MINUTE, seed })
  t.diagnostic(describe(result).split('\n').slice(0, 1).join(''))
  const hasBroker = findNatsServer() !== null
  if (!hasBroker) t.diagnostic('without NATS: nats-server is not installed')
  assert.equal(result.verdict.violations.length, 0, `${again}\n${describe(result)}`)
  for (const feed of ['put', 'batch', 'sql', ...(hasBroker ? (['nats'] as const) : [])] as const) {
    assert.ok(result.feeds.get(feed), `nothing was fed by ${feed}`)
  }
  assert.ok(result.faults.get('killed'), `the seed ${seed} has never killed a process`)
  const { figures } = result.verdict
  assert.ok((figures.delivered ?? 0) > 500, `${figures.delivered} delivered`)
})
