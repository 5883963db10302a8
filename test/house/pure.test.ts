// The rules of core are pure: of the same they make the same. Imports are held to it by imports.test.ts; here it is what a file
// can reach without one, and the ways to import that a reader of texts does not see.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { reachesOf } from './reaches.ts'
import { ROOT, readText, sourceFiles } from './source-files.ts'

/** A key has to be drawn: those that leave the service in a request for a certificate are, where they are written. */
const DRAWN = 'server/core/certificates/certificate-request.ts: generateKeyPair'

test('core reaches for no clock, dice, timer, network or process', () => {
  const files = sourceFiles('server/core')
  assert.ok(files.length > 100, 'hardly any files are read')
  const found = files.flatMap((file) => reachesOf(readText(file)).map((one) => `${file}: ${one}`))
  assert.deepEqual(found, [DRAWN])
})

test('the server has no code but .ts: no test of the house would read it', () => {
  assert.deepEqual(globSync('server/**/*.{mts,cts,js,mjs,cjs,jsx}', { cwd: ROOT }), [])
})

for (const [code, reach] of [
  ['import(`node:net`)', 'import()'],
  ['const net = await import("node:net")', 'import()'],
  ["import { a } from './other.mts'", './other.mts'],
  ["export * from '../other.js'", '../other.js'],
  ["process.getBuiltinModule('node:net')", 'process'],
  ["globalThis.process.getBuiltinModule('node:net')", 'globalThis'],
  ["fetch('https://example.com')", 'fetch'],
  ['const load = fetch', 'fetch'],
  ['const given = { fetch }', 'fetch'],
  ['const given = { load: fetch }', 'fetch'],
  ['performance.now()', 'performance'],
  ['const { now } = performance', 'performance'],
  ['Math.random()', 'Math.random'],
  ["Math['random']()", 'Math.?'],
  ['const { random } = Math', 'Math.?'],
  ["import { randomUUID } from 'node:crypto'", 'randomUUID'],
  ["import { randomBytes as bytes } from 'node:crypto'", 'randomBytes'],
  ["import all from 'node:crypto'", '*'],
  ["import * as all from 'node:crypto'", '*'],
  ["export { randomInt } from 'node:crypto'", 'randomInt'],
  ["export * from 'node:crypto'", '* of node:crypto'],
  ['crypto.randomUUID()', 'crypto'],
  ['crypto.getRandomValues(bytes)', 'crypto'],
  ['setTimeout(run, 1)', 'setTimeout'],
  ['setInterval(run, 1)', 'setInterval'],
  ['setImmediate(run)', 'setImmediate'],
  ['new Date()', 'Date()'],
  ['Date()', 'Date.?'],
  ['Date.now()', 'Date.now'],
  ["Date['now']()", 'Date.?'],
  ['const { now } = Date', 'Date.?'],
  ['const Clock = Date', 'Date.?'],
  ['(Date as Clock).now()', 'Date.?'],
  ["eval('1')", 'eval'],
] as const) {
  test(`regression: ${code} is seen in core`, () => assert.deepEqual(reachesOf(code), [reach]))
}

test('what is handed in, and what is pure, may be used', () => {
  for (const code of [
    "import { createHash, type KeyObject } from 'node:crypto'\nimport { isIP } from './network.ts'",
    'new Date(atMs).getTime() + Date.UTC(2026, 0) + Date.parse(text)',
    'const isDate = at instanceof Date && Math.floor(1.5) === 1',
    'interface Clock { now: Date; fetch(url: string): Promise<Date>; process: string }',
    'function run(now: Date, random: () => number): Date { return now }',
    'const { fetch: load, process: name } = seams\nseams.fetch(); seams.setTimeout()',
    '// Date.now(), fetch and process\nconst text = "Math.random()"',
    'class Lane { process() {} fetch = 1 }',
  ]) {
    assert.deepEqual(reachesOf(code), [], code)
  }
})
