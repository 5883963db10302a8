// The full suite of chaos, every kind of fault included, for two minutes; `npm run chaos` takes eight.

import { test } from 'node:test'
import { assertPasses } from '../support/program.ts'

test('two minutes of every fault: nothing is lost, nothing out of order, no duplicate without a reason', async (t) => {
  await assertPasses(t, 'test/chaos/main.ts', '--seconds', '120', '--quiet')
})
