import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/paybell.ts'
import { connectSupervisor } from './supervisor.ts'

/** A program in the place of systemd's that writes down what it is asked to say. */
async function standIn(t: TestContext): Promise<{ said(): Promise<string[]> }> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-notify-'))
  t.after(() => rm(folder, { recursive: true }))
  const log = join(folder, 'log')
  await writeFile(log, '')
  await writeFile(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >> ${log}\n`)
  await chmod(join(folder, 'systemd-notify'), 0o755)
  const { PATH } = process.env
  process.env.PATH = `${folder}:${PATH}`
  t.after(() => {
    process.env.PATH = PATH
  })
  return { said: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean) }
}

const failing = (error: Error) => assert.fail(error)

test('a unit of Type=notify hears of readiness, of life as often as it asks, and of the end', async (t) => {
  const { said } = await standIn(t)
  const env = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '100000' }
  const supervisor = connectSupervisor({ env, onFailure: failing })
  t.after(() => supervisor.close())
  await supervisor.ready()
  assert.equal((await said())[0], '--no-block --ready')
  await until('two signs of life', async () => {
    return (await said()).filter((line) => line === '--no-block WATCHDOG=1').length >= 2
  })
  await supervisor.stopping()
  assert.ok((await said()).includes('--no-block STOPPING=1'))
})

test('without systemd nothing is started; without its program the service goes on', async (t) => {
  const { said } = await standIn(t)
  await connectSupervisor({ env: {}, onFailure: failing }).ready()
  assert.deepEqual(await said(), [])
  process.env.PATH = '/nowhere'
  const failures: Error[] = []
  const onFailure = (error: Error) => failures.push(error)
  await connectSupervisor({ env: { NOTIFY_SOCKET: 'x' }, onFailure }).ready()
  assert.equal(failures.length, 1)
})
