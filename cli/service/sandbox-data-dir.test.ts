import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDataDir } from './sandbox-data-dir.ts'

test('a data folder is made for its owner alone; one that is there stays', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'paybell-folders-'))
  t.after(() => rm(parent, { recursive: true }))
  const dataDir = join(parent, 'a', 'b')
  for (const _ of [1, 2]) assert.equal(await makeDataDir(dataDir), dataDir)
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
})

test('regression: a data folder that is a file, or below one, fails with a sentence', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'paybell-folders-'))
  t.after(() => rm(parent, { recursive: true }))
  const file = join(parent, 'file')
  await writeFile(file, 'not a folder')
  for (const [path, why] of [
    [file, 'there is a file of this name'],
    [join(file, 'below'), 'a part of its path is a file'],
  ] as const) {
    await assert.rejects(makeDataDir(path), {
      message: `the data directory ${path} cannot be used: ${why}. Choose another directory with PAYBELL_DATA_DIR.`,
    })
  }
})
