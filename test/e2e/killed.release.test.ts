// F27: two sandboxes that start at once on the data of one that was killed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRunning, readPostmasterPid } from '../support/postmaster.ts'
import { startSandbox } from '../support/sandbox.ts'
import { until } from '../support/until.ts'

test('F27: killed, the sandbox takes its database along, and two that start at once do not share it', async (t) => {
  const first = await startSandbox(t)
  const { dataDir } = first
  const postmaster = (await readPostmasterPid(dataDir)) ?? assert.fail()
  await first.kill('SIGKILL')
  const both = await Promise.allSettled([
    startSandbox(t, { dataDir }),
    startSandbox(t, { dataDir }),
  ])
  const processes = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const alive = processes.filter(({ process }) => process.exitCode === null)
  assert.ok(alive.length >= 1, 'one of them runs')
  await until('one has refused', () => {
    const ended = processes.filter(({ process }) => process.exitCode !== null).length
    return ended + both.filter(({ status }) => status === 'rejected').length === 1
  })
  await until(
    'the database of the one that was killed is gone, or is the one in use',
    async () => !isRunning(postmaster) || (await readPostmasterPid(dataDir)) === postmaster,
  )
  const [survivor] = processes.filter(({ process }) => process.exitCode === null)
  assert.equal(survivor?.clientSecret, first.clientSecret)
  assert.equal(await survivor?.kill('SIGINT'), 0)
})
