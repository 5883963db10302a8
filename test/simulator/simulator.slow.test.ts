// The whole of what simulator.test.ts has a slice of: more fixed seeds, seeds that no run had before, and every
// deliberate fault. A seed that fails is repeated by the command that it prints.

import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import '../support/full-size.ts'
import { assertPasses } from '../support/program.ts'
import './simulator.test.ts'

test('no invariant breaks in 10,000 seeds from a random one', async (t) => {
  await assertPasses(t, 'test/simulator/main.ts', '--seeds', '10000', '--from', `${randomInt(1e9)}`)
})

test('every deliberate fault is caught', async (t) => {
  await assertPasses(t, 'test/simulator/mutants.ts')
})
