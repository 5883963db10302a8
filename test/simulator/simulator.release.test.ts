// The whole of what simulator.test.ts has a slice of: more seeds, the same in every run, every crash, and every deliberate
// fault. `npm run sim -- --from S` meets seeds that no run had before.

import { test } from 'node:test'
import '../support/full-size.ts'
import { assertPasses } from '../support/program.ts'
import './simulator.test.ts'

test('no invariant breaks in 10,000 seeds', async (t) => {
  const live = (from: string) =>
    assertPasses(t, 'test/simulator/main.ts', '--seeds', '5000', '--from', from)
  // A process has one thread for them.
  await Promise.all([live('1'), live('5001')])
})

test('every deliberate fault is caught', async (t) => {
  await assertPasses(t, 'test/simulator/mutants.ts')
})
