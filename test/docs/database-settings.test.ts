// docs/operations.md says of every setting of the embedded PostgreSQL what production gets instead: our
// sessions set it, doctor looks at it, or the operator does. What it says of the first two is so.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { serverArguments } from '../../server/embedded/server-settings.ts'
import { SESSION } from '../../server/store/connection/session.ts'
import { SERVER_SETTINGS } from '../../server/store/schema/inspect-server.ts'

const DOC = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

interface Row {
  name: string
  value: string
  whose: string
  effect: string
}

const section = /### Its settings\n([\s\S]*?)\n### /.exec(DOC)?.[1] ?? ''
const rows = [...section.matchAll(/^\| (`[a-z_`, ]+) \| (.*?) \| (.*?) \| (.*) \|$/gm)].flatMap(
  ([, names, values, whose, effect]): Row[] => {
    const all = (names as string).replaceAll('`', '').split(', ')
    const each = (values as string).split(', ')
    return all.map((name, index) => ({
      name,
      value: (all.length === each.length ? each[index] : values) as string,
      whose: whose as string,
      effect: effect as string,
    }))
  },
)

/** Where the embedded server is found, which says nothing about how it works. */
const DOORS = ['listen_addresses', 'unix_socket_directories', 'unix_socket_permissions', 'port']

const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit']

function embedded(): ReadonlyMap<string, string> {
  const args = serverArguments({}, { kind: 'socket', dir: '/x' }, 1024 ** 3)
  const pairs = args.filter((arg) => arg !== '-c').map((arg) => arg.split('='))
  return new Map(pairs.map(([name, value]) => [name as string, value as string]))
}

test('every setting of the embedded PostgreSQL has its row, with its value and an effect', () => {
  const byName = new Map(rows.map((row) => [row.name, row]))
  for (const [name, value] of embedded()) {
    if (DOORS.includes(name)) continue
    const row = byName.get(name)
    assert.ok(row, `${name} is not in docs/operations.md`)
    assert.ok(row.effect.length > 20, `${name}: what does it do?`)
    // Values that depend on the machine are described in words.
    if (name !== 'shared_buffers') assert.equal(row.value, `\`${value}\``, name)
  }
})

test('what every session is said to set, it sets, and to the same value', () => {
  const set = new Map<string, string>(Object.entries(SESSION))
  for (const { name, value, whose } of rows) {
    assert.equal(whose === 'every session', set.has(name), name)
    if (whose === 'every session') assert.equal(value, `\`${set.get(name)}\``)
  }
})

test('what doctor is said to look at, it asks for', () => {
  const asked: readonly string[] = [...SERVER_SETTINGS, ...DURABILITY]
  for (const { name, whose } of rows) {
    assert.equal(whose.startsWith('doctor'), asked.includes(name), name)
  }
})
