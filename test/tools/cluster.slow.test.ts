// The programs that measure a cluster: each is run small, once, on two cells of a Citus cluster, each on a node of its own.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { NO_CITUS, startCitus } from '../support/citus-cluster.ts'
import { SERVED_OPERATOR_KEY } from '../support/served.ts'
import { assertDoes } from './run-tool.ts'

if (NO_CITUS) console.log(`skipped: ${NO_CITUS}`)

test('what measures a cluster runs', { skip: NO_CITUS }, async (t) => {
  const { url, dir, commandsFor } = await startCitus(t)
  const env = {
    DATABASE_URL: url,
    PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYBELL_OPERATOR_KEY: SERVED_OPERATOR_KEY,
  }
  const ran = async (...args: string[]) => {
    const { code, stdout, stderr } = await callCommand(['cells', ...args, '--json'], { env })
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  for (const cell of ['1', '2']) assert.equal((await ran('create', cell)).isDistributed, true)
  const { cells } = await ran('list')
  const nodes = (cells as { node: string }[]).map(({ node }) => node)
  assert.equal(new Set(nodes).size, 2, `both are on ${nodes[0]}`)

  const run = (name: string, args: readonly string[], prints: RegExp) =>
    t.test(`node ${name}`, (t) =>
      assertDoes(t, { args, prints }, process.execPath, [name, ...args]),
    )
  // Node loss wants its cells fresh: without deliveries of the others.
  const { kill, revive } = commandsFor(Number(nodes[1]?.split(':')[1]))
  await run(
    'test/measure/node-loss.ts',
    [url, '1', '2', '--pace', '5', '--seconds', '1', '--kill', kill, '--revive', revive],
    /^cell 1: 0 missing.*^cell 2, while the node is dead: 5 payments, [1-5] refused.*^cell 2: 0 missing/ms,
  )
  await run(
    'test/measure/cluster-cpu.ts',
    ['--rounds', '1', '--batch', '5', dir, url, '1', url, '2'],
    /cell 1: \d+ µs of CPU a delivery\n.*coordinator \d+, first \d+.*\n.*cell 2: \d+ µs/,
  )
  await run(
    'test/measure/cluster-rates.ts',
    ['--rounds', '1', '--seconds', '0.5', '--batch', '5', dir, url, '1', '2'],
    /cell 1 and .* cell 2: [1-9]\d* deliveries per second\n.*first \d/,
  )
})
