// The sample of a commit is the same each time, of the size that is asked for, and over many commits it is everything.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { commitOf, draw, drawNumber } from './sample.ts'

const ALL = Array.from({ length: 150 }, (_, number) => number)

test('one commit always draws the same, in the order of the list', () => {
  const drawn = draw(ALL, 20, 'mutants', 'abc')
  assert.deepEqual(draw(ALL, 20, 'mutants', 'abc'), drawn)
  assert.equal(drawn.length, 20)
  assert.deepEqual(
    drawn,
    drawn.toSorted((a, b) => a - b),
  )
  assert.notDeepEqual(draw(ALL, 20, 'mutants', 'abd'), drawn)
  assert.notDeepEqual(draw(ALL, 20, 'files', 'abc'), drawn)
})

test('over a hundred commits everything is drawn', () => {
  const drawn = new Set<number>()
  for (let commit = 0; commit < 100; commit++) {
    for (const one of draw(ALL, 20, 'mutants', `${commit}`)) drawn.add(one)
  }
  assert.equal(drawn.size, ALL.length)
})

test('more than there is draws all; a number stays below its limit', () => {
  assert.deepEqual(draw([1, 2, 3], 20, 'files', 'abc'), [1, 2, 3])
  for (let commit = 0; commit < 100; commit++) {
    const number = drawNumber(7, 'seeds', `${commit}`)
    assert.ok(Number.isInteger(number) && number >= 0 && number < 7)
  }
})

const skip = spawnSync('git', ['--version']).status === 0 ? false : 'git is not installed'

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-sample-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function makeCommit(folder: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--no-verify', '--no-gpg-sign', '-m', 'test: begin')
  return git('rev-parse', '--short=12', 'HEAD').trim()
}

test('an archive always draws the same, also one that is unpacked within a repository', {
  skip,
}, async (t) => {
  const folder = await makeFolder(t)
  makeCommit(folder)
  const archive = join(folder, 'archive')
  await mkdir(archive)
  assert.equal(commitOf(archive), 'archive')
})

test('regression: a clone that belongs to another user draws by its commit', {
  skip,
}, async (t) => {
  const folder = await makeFolder(t)
  const commit = makeCommit(folder)
  assert.equal(commitOf(folder), commit)
  // Git's own tests ask this of it.
  assert.equal(commitOf(folder, { ...process.env, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }), commit)
})

test('a repository that git cannot read is an error that says what to do', { skip }, async (t) => {
  const folder = await makeFolder(t)
  await mkdir(join(folder, '.git'))
  assert.throws(() => commitOf(folder), /set PAYBELL_TEST_SAMPLE to any name.\n.*git/s)
  makeCommit(folder)
  assert.throws(() => commitOf(folder, { PATH: folder }), /set PAYBELL_TEST_SAMPLE/)
})
