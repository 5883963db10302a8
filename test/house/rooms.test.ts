// The rooms within the large rooms, as the table of ARCHITECTURE.md has them: which there are, and which of them
// imports which. Files above the sub-rooms of a room put them together; no sub-room imports one.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { importsOf, readText, sourceFiles } from './source-files.ts'

const FILES_MAX = 25

const files = sourceFiles('server', 'cli', 'sdk/src', 'console/src')

/** `server/store/sql/columns.ts` is in `sql` of `store`; a file right in a room has an empty sub-room. */
function placeOf(file: string): { room: string; sub: string } {
  const path = dirname(file).replace(/^(?:server|console\/src)\/|(?<=^sdk)\/src/, '')
  const [room = '', ...sub] = path.split('/')
  return { room, sub: sub.join('/') }
}

function readTable(): Map<string, readonly string[]> {
  const rows = readText('ARCHITECTURE.md').matchAll(
    /^\| `(\w+)(?:\/src)?\/(\w[\w/]*\w)` \|[^|]+\| ([^|]+) \|$/gm,
  )
  return new Map(
    [...rows].map(([, room, sub, to = '']) => [
      `${room}/${sub}`,
      to === 'none' ? [] : to.split(', ').map((one) => `${room}/${one}`),
    ]),
  )
}

test('the sub-rooms and their arrows are those of ARCHITECTURE.md', () => {
  const shown = readTable()
  const divided = new Set([...shown.keys()].map((name) => name.split('/')[0]))
  assert.ok(divided.size >= 8, 'the reader of the table finds hardly any')
  const found = new Map<string, Set<string>>()
  for (const file of files) {
    const { room, sub } = placeOf(file)
    if (!divided.has(room) || sub === '') continue
    const name = `${room}/${sub}`
    const to = found.get(name) ?? new Set()
    found.set(name, to)
    for (const { target, isPackage } of importsOf(file)) {
      const at = placeOf(target)
      const isCode = !isPackage && /\.tsx?$/.test(target)
      if (isCode && at.room === room && at.sub !== sub) to.add(`${room}/${at.sub}`)
    }
  }
  const sorted = (arrows: ReadonlyMap<string, Iterable<string>>) =>
    Object.fromEntries([...arrows].map(([name, to]) => [name, [...to].toSorted()] as const))
  assert.deepEqual(sorted(found), sorted(shown))
})

test('no sub-room imports itself by way of others', () => {
  const arrows = readTable()
  const above = (name: string, way: readonly string[]): void => {
    assert.ok(!way.includes(name), [...way, name].join(' → '))
    for (const to of arrows.get(name) ?? []) above(to, [...way, name])
  }
  for (const name of arrows.keys()) above(name, [])
})

test(`no folder has more than ${FILES_MAX} files besides tests`, () => {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  assert.deepEqual(
    [...counts].filter(([, count]) => count > FILES_MAX),
    [],
  )
})
