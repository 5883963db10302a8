import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ListenerKeys } from './listener-keys.ts'

const ANN = { url: 'http://127.0.0.1:8080', accountId: 'a', name: 'ann' }

async function makeKeys(t: TestContext): Promise<ListenerKeys> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-keys-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return new ListenerKeys(dir)
}

test('a key is made once and stays, for each service, account and name', async (t) => {
  const keys = await makeKeys(t)
  const first = await keys.keyOf(ANN)
  assert.match(first, /^[\w-]{43}$/)
  assert.equal(await keys.keyOf({ ...ANN, url: 'http://127.0.0.1:8080/' }), first)
  const others = [
    { ...ANN, url: 'https://paybell.example' },
    { ...ANN, accountId: 'b' },
    { ...ANN, name: 'bob' },
  ]
  const made: string[] = []
  for (const one of others) made.push(await keys.keyOf(one))
  assert.equal(new Set([first, ...made]).size, 4)
  assert.equal(await keys.keyOf(ANN), first)
  assert.equal((await stat(keys.path)).mode & 0o777, 0o600)
  assert.equal((await stat(dirname(keys.path))).mode & 0o777, 0o700)
})

test('a damaged file is reported and left as it is', async (t) => {
  const keys = await makeKeys(t)
  await mkdir(dirname(keys.path), { recursive: true })
  for (const text of ['{"http', '[]', 'null']) {
    await writeFile(keys.path, text)
    await assert.rejects(keys.keyOf(ANN), /listeners\.json is not readable JSON/)
  }
})
