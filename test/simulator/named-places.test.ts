// A place is found by its name, in whatever folder its file is; a name that says too little is refused.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { NamedPlaces } from './named-places.ts'

const FILES = {
  'server/a/lanes.ts':
    "import { b } from './b.ts'\nexport class Lanes {\n  get size() { return 1 }\n  #start() {}\n}\n",
  'server/a/b/strand.ts': 'export function begin() {}\nfunction isAhead() {}\n',
  'server/c/flight.ts': 'const isAhead = () => true\nexport const QUERY = `select 1`\n',
  'server/c/other.ts': 'function outer() { function begin() {}\n  const QUERY = 1 }\n',
  'server/c/flight.test.ts': 'function begin() {}\n',
  'test/conformance/lanes.test.ts': '',
  'server/c/lanes.test.ts': '',
}

const root = mkdtempSync(join(tmpdir(), 'paybell-places-'))
after(() => rmSync(root, { recursive: true }))
for (const [file, text] of Object.entries(FILES)) {
  mkdirSync(join(root, dirname(file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
const places = new NamedPlaces(root)

test('members, functions and constants at the top of a file are places', () => {
  assert.equal(places.fileOf('Lanes'), 'server/a/lanes.ts')
  assert.equal(places.fileOf('Lanes.size'), 'server/a/lanes.ts')
  assert.equal(places.fileOf('Lanes.#start'), 'server/a/lanes.ts')
  assert.equal(places.fileOf('QUERY'), 'server/c/flight.ts')
})

test('what is inside a function, or in a test, is none', () => {
  assert.equal(places.fileOf('begin'), 'server/a/b/strand.ts')
})

test('a name that is nowhere is refused', () => {
  assert.throws(() => places.fileOf('end'), /0 files have end below server/)
  assert.throws(() => places.fileOf('Lanes.start'), /0 files have Lanes.start/)
})

test('a name that two files have is refused, unless the file is named', () => {
  assert.throws(() => places.fileOf('isAhead'), /2 files have isAhead .*name one as file:name/)
  assert.equal(places.fileOf('strand:isAhead'), 'server/a/b/strand.ts')
})

test('a test is found by its name, and by its folder where two have it', () => {
  assert.equal(places.testOf('flight.test'), 'server/c/flight.test.ts')
  assert.throws(() => places.testOf('lanes.test'), /2 files have the name lanes.test.ts/)
  assert.equal(places.testOf('conformance/lanes.test'), 'test/conformance/lanes.test.ts')
  assert.throws(() => places.testOf('no.test'), /0 files/)
})

test('one file imports another wherever it is', () => {
  assert.equal(places.pathFrom('server/c/flight.ts', 'begin'), '../a/b/strand.ts')
  assert.equal(places.pathFrom('server/c/other.ts', 'QUERY'), './flight.ts')
})
