import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/paybell.ts'
import { skipWithout } from '../../test/support/programs.ts'
import { connectSupervisor } from './supervisor.ts'

const { PATH } = process.env
const failing = (error: Error) => assert.fail(error)

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-notify-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A program in the place of systemd's that writes down what it is asked to say. */
async function standIn(t: TestContext): Promise<{ folder: string; said(): Promise<string[]> }> {
  const folder = await makeFolder(t)
  const log = join(folder, 'log')
  await writeFile(log, '')
  await writeFile(
    join(folder, 'systemd-notify'),
    `#!/bin/sh\necho "$NOTIFY_SOCKET: $@" >> ${log}\n`,
  )
  await chmod(join(folder, 'systemd-notify'), 0o755)
  return { folder, said: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean) }
}

test('a unit of Type=notify is notified of readiness, of life as often as it asks, and of the end', async (t) => {
  const { folder, said } = await standIn(t)
  const env = {
    PATH: `${folder}:${PATH}`,
    NOTIFY_SOCKET: '/run/notify',
    WATCHDOG_USEC: '100000',
  }
  const supervisor = connectSupervisor({ env, onFailure: failing })
  try {
    await supervisor.ready()
    assert.equal((await said())[0], '/run/notify: --ready')
    await until('two signs of life', async () => {
      return (await said()).filter((line) => line === '/run/notify: WATCHDOG=1').length >= 2
    })
    await supervisor.stopping()
    assert.ok((await said()).includes('/run/notify: STOPPING=1'))
  } finally {
    // Before the folder goes: a sign of life that finds its program gone would fail what cleans up.
    supervisor.close()
  }
})

test('without systemd nothing is started; without its program the service goes on', async (t) => {
  const { folder, said } = await standIn(t)
  const path = { PATH: `${folder}:${PATH}` }
  await connectSupervisor({ env: path, onFailure: failing }).ready()
  assert.deepEqual(await said(), [])
  const failures: Error[] = []
  const onFailure = (error: Error) => failures.push(error)
  const env = { PATH: '/nowhere', NOTIFY_SOCKET: 'x' }
  await connectSupervisor({ env, onFailure }).ready()
  assert.equal(failures.length, 1)
})

/** Node cannot open a datagram socket with a path; Python can. It prints what is written to it, and closes the file
 *  that a writer sends along to learn that its message was read. */
const LISTENER = `
import array, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('open', flush=True)
while True:
    text, files, _, _ = s.recvmsg(4096, socket.CMSG_SPACE(4))
    print(text.decode(), flush=True)
    for level, kind, data in files:
        if kind == socket.SCM_RIGHTS:
            for one in array.array('i', data): os.close(one)
`

test('regression: what systemd reads is there before the program that wrote it ends', {
  skip: skipWithout('python3', 'systemd-notify'),
}, async (t) => {
  const NOTIFY_SOCKET = join(await makeFolder(t), 'notify')
  const listener = spawn('python3', ['-c', LISTENER, NOTIFY_SOCKET])
  t.after(() => listener.kill('SIGKILL'))
  let heard = ''
  listener.stdout.on('data', (text) => (heard += text))
  await until('the socket is open', () => heard.includes('open\n'))
  const env = { PATH, NOTIFY_SOCKET, WATCHDOG_USEC: '200000' }
  const supervisor = connectSupervisor({ env, onFailure: failing })
  t.after(() => supervisor.close())
  await supervisor.ready()
  // The barrier is what it waits for.
  await until('READY and its barrier', () => /^READY=1\n+BARRIER=1$/m.test(heard))
  await until('a sign of life', () => /^WATCHDOG=1$/m.test(heard))
  supervisor.close()
  await supervisor.stopping()
  await until('the end', () => /^STOPPING=1$/m.test(heard))
})
