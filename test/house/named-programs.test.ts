// However a program is named to be started, it is found; and what is only mentioned is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programsNamedIn } from '../tools/named-programs.ts'

test('regression: a program is found with flags before it, below test/, and by itself', () => {
  for (const text of [
    'node bench/a-b.ts',
    '`node bench/a-b.ts 1 2`, then',
    'node ./bench/a-b.ts',
    'node --cpu-prof --heap=1 bench/a-b.ts',
    'node --import ./bench/stamps.ts bench/a-b.ts',
    'node_modules/.bin/node bench/a-b.ts',
    'run `node\nbench/a-b.ts`',
    'X=1 ./bench/a-b.ts --quick',
    '(`./bench/a-b.ts`)',
  ]) {
    assert.deepEqual(programsNamedIn(text), ['bench/a-b.ts'], text)
  }
  assert.deepEqual(programsNamedIn('`node test/x/y.ts z`; node packages/build.mjs'), [
    'test/x/y.ts',
    'packages/build.mjs',
  ])
})

test('a file that is mentioned, and a test, are none', () => {
  for (const text of [
    'the node (`bench/a.ts`)',
    '[a](./docs/a.md), ../bench/a.ts',
    'node --test test/a.test.ts',
    'node --test <file>',
    'node server/main.ts',
  ]) {
    assert.deepEqual(programsNamedIn(text), [], text)
  }
})
