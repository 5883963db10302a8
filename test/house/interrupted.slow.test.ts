// Ctrl-C in the middle of a run of the tests: it ends soon, says that it has failed, and leaves no process and no
// folder. A group that uses the database is interrupted when its first test has passed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, readFile, readlink } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Handed down to the processes of the run, by which they can be told from those of another. */
const MARK = 'PAYBELL_TEST_INTERRUPTED'

test('Ctrl-C ends a run of the tests, and leaves nothing behind', {
  skip: process.platform !== 'linux' && 'processes are found in /proc, which only Linux has',
}, async (t) => {
  const { run, mark, printed } = await startRun(t)
  await until('a test has passed', () => printed().startsWith('.'), 60_000)
  const folder = await folderOf(mark)
  const inside = () =>
    processesWhere(async (pid) => (await readlink(`${pid}/cwd`)).startsWith(folder))
  assert.ok((await marked(mark)).length >= 2, 'the run and a worker')
  assert.ok((await inside()).length >= 2, 'PostgreSQL and what it has started')
  run.kill('SIGINT')
  const [code, signal] = await once(run, 'exit')
  assert.deepEqual([code, signal], [1, null], printed())
  await until('its processes have ended', async () => {
    return (await marked(mark)).length + (await inside()).length === 0
  })
  await assert.rejects(access(folder), { code: 'ENOENT' })
})

async function startRun(t: TestContext) {
  // With the second, Node's runner would take the run for a part of this one.
  const { PAYBELL_TEST_SERVER_URL: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env
  const value = `${process.pid}-${performance.now()}`
  const mark = `${MARK}=${value}`
  const run = spawn(process.execPath, ['test/run.ts', 'http'], {
    cwd: ROOT,
    env: { ...inherited, [MARK]: value },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [run.stdout, run.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  t.after(async () => {
    for (const pid of await marked(mark)) process.kill(pid, 'SIGKILL')
  })
  return { run, mark, printed: () => printed }
}

/** Its temporary folder, which its workers were told of (test/support/scratch.ts). */
async function folderOf(mark: string): Promise<string> {
  const told: string[] = []
  for (const pid of await marked(mark)) {
    const line = (await environmentOf(`/proc/${pid}`)).find((line) => line.startsWith('TMPDIR='))
    const folder = line?.slice('TMPDIR='.length)
    if (folder !== undefined && folder !== process.env.TMPDIR) told.push(folder)
  }
  return told[0] ?? assert.fail('no worker knows of a folder of its own')
}

function marked(mark: string): Promise<number[]> {
  return processesWhere(async (folder) => (await environmentOf(folder)).includes(mark))
}

async function environmentOf(folder: string): Promise<string[]> {
  return (await readFile(`${folder}/environ`, 'utf8')).split('\0')
}

/** Processes that have ended, or are not ours to look at, are none. */
async function processesWhere(holds: (folder: string) => Promise<boolean>): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await holds(`/proc/${name}`).catch(() => false))) {
      found.push(Number(name))
    }
  }
  return found
}
