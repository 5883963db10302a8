// What `npm run schema`, `wire` and `licences` do with a file: they write it, or with `--check` leave it as it is.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isCheckOnly, writeChanged } from '../../packages/write-changed.ts'

test('regression: a check writes nothing, and says that a file differs', async (t) => {
  t.mock.method(console, 'log', () => {})
  const folder = await mkdtemp(join(tmpdir(), 'paybell-made-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'made.sql')
  await writeFile(file, 'before')
  assert.throws(() => writeChanged(file, 'after', true), /made\.sql differs from what it is made/)
  assert.equal(await readFile(file, 'utf8'), 'before')
  writeChanged(file, 'after', false)
  assert.equal(await readFile(file, 'utf8'), 'after')
  const { mtimeNs, ino } = await stat(file, { bigint: true })
  writeChanged(file, 'after', true)
  writeChanged(file, 'after', false)
  const left = await stat(file, { bigint: true })
  assert.deepEqual([left.mtimeNs, left.ino], [mtimeNs, ino], 'one that is as it should be')
})

test('an argument that is none is refused', () => {
  assert.deepEqual([isCheckOnly([]), isCheckOnly(['--check'])], [false, true])
  assert.throws(() => isCheckOnly(['--chek']), /Unknown option '--chek'/)
  assert.throws(() => isCheckOnly(['check']), /positional/)
})
