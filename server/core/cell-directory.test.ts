import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CellDirectory,
  type CellEntry,
  ENTRY_AGE_MS_MAX,
  type LearntCells,
  parseEntry,
} from './cell-directory.ts'

const NOW_MS = Date.parse('2026-11-16T12:00:00Z')
/** Made in 2026-11, after the ids of cell 0 told their cell; the digits of the fourth group are the cell. */
const IN_ZERO = '019a8f6e-1c2d-7a3b-9000-5e6f70819204'
const IN_SEVEN = '019a8f6e-1c2d-7a3b-8007-5e6f70819204'
/** Made in 2025, with random digits that look like cell 7's. */
const OF_BEFORE = '01940000-0000-7000-8007-5e6f70819204'

function entryOf(cell: number, more: Partial<CellEntry> = {}): CellEntry {
  return {
    version: 1,
    cell,
    address: `https://cell${cell}.example.com`,
    stampedSince: '2025-06-01T00:00:00.000Z',
    clients: [],
    accounts: [],
    issuedAt: '2026-11-16T11:59:50.000Z',
    ...more,
  }
}

test('an id leads to the cell that made it, and one of before cells to the first', () => {
  const directory = new CellDirectory([0, 7], [entryOf(0), entryOf(7)])
  assert.equal(directory.cellOfId(IN_ZERO), 0)
  assert.equal(directory.cellOfId(IN_SEVEN), 7)
  assert.equal(directory.cellOfId(IN_SEVEN.toUpperCase()), 7)
  assert.equal(directory.cellOfId(OF_BEFORE), 0)
})

test('an id of no cell that there is leads to the first, which says that it is unknown', () => {
  const directory = new CellDirectory([3, 7], [])
  assert.equal(directory.cellOfId(IN_ZERO), 3)
  assert.equal(directory.cellOfId('no uuid'), 3)
  assert.equal(directory.cellOfId('5bd8b9c4-7a34-4d4e-8007-7d9f5c2f3c11'), 3, 'a UUIDv4')
})

test('a client that has moved is where an entry says, and so is each of its accounts', () => {
  const moved = entryOf(7, { clients: [IN_ZERO], accounts: [OF_BEFORE] })
  const directory = new CellDirectory([0, 7], [entryOf(0), moved])
  assert.equal(directory.cellOfClient(IN_ZERO), 7)
  assert.equal(directory.cellOfClient(IN_ZERO.toUpperCase()), 7)
  assert.equal(directory.cellOfAccount(OF_BEFORE), 7)
  assert.equal(directory.cellOfAccount(IN_ZERO), 0)
})

test('of two entries that claim a client, the newer one holds: the older cell has not been asked since', () => {
  const old = entryOf(7, { clients: [IN_ZERO], issuedAt: '2026-11-16T11:00:00.000Z' })
  const young = entryOf(3, { clients: [IN_ZERO] })
  for (const entries of [
    [old, young],
    [young, old],
  ]) {
    assert.equal(new CellDirectory([0, 3, 7], entries).cellOfClient(IN_ZERO), 3)
  }
})

test('an entry is whole and of now, or it is none', () => {
  const good = entryOf(7, { clients: [IN_ZERO] })
  assert.deepEqual(parseEntry(good, NOW_MS), good)
  const day = new Date(NOW_MS - ENTRY_AGE_MS_MAX - 1).toISOString()
  const wrong: unknown[] = [
    null,
    'text',
    { ...good, version: 2 },
    { ...good, cell: 1_024 },
    { ...good, cell: '7' },
    { ...good, address: 7 },
    { ...good, clients: ['no uuid'] },
    { ...good, accounts: Array.from({ length: 10_001 }, () => IN_ZERO) },
    { ...good, issuedAt: 'today' },
    { ...good, issuedAt: day },
    { ...good, issuedAt: '2026-11-16T12:30:00.000Z' },
  ]
  for (const value of wrong) assert.equal(parseEntry(value, NOW_MS), null, JSON.stringify(value))
})

/** What a 308 said at 0 ms, and when the entries of the cells were asked for. */
function learnt(cell: number, askedAtMs: Readonly<Record<number, number>> = {}): LearntCells {
  return {
    get: (id) => (id === IN_ZERO ? { cell, atMs: 0 } : undefined),
    askedAtMs: (one) => askedAtMs[one],
  }
}
const LATER_MS = 60_000

test('what a 308 has said comes before entries that may be older', () => {
  const claimed = [entryOf(0), entryOf(3, { clients: [IN_ZERO], accounts: [IN_ZERO] }), entryOf(7)]
  for (const atMs of [-1, 0, 1]) {
    const directory = new CellDirectory(
      [0, 3, 7],
      claimed,
      learnt(7, { 0: atMs, 3: atMs, 7: atMs }),
    )
    assert.equal(directory.cellOfClient(IN_ZERO), 7)
    assert.equal(directory.cellOfAccount(IN_ZERO.toUpperCase()), 7)
    assert.equal(directory.cellOfClient(IN_SEVEN), 7)
    assert.equal(directory.cellOfId(IN_ZERO), 0)
  }
})

test('a newer entry that names a client decides, whatever a 308 has said before', () => {
  const claimed = [entryOf(0), entryOf(3, { clients: [IN_ZERO] }), entryOf(7)]
  const directory = new CellDirectory([0, 3, 7], claimed, learnt(7, { 3: LATER_MS }))
  assert.equal(directory.cellOfClient(IN_ZERO), 3)
})

test('a newer entry of the cell that a 308 has named, without the client, decides, too', () => {
  const entries = [entryOf(0), entryOf(7)]
  const gone = new CellDirectory([0, 7], entries, learnt(7, { 7: LATER_MS }))
  assert.equal(gone.cellOfClient(IN_ZERO), 0, 'it is where its id says')
  const full = entryOf(7, { clients: Array.from({ length: 10_000 }, () => OF_BEFORE) })
  const unsaid = new CellDirectory([0, 7], [entryOf(0), full], learnt(7, { 7: LATER_MS }))
  assert.equal(unsaid.cellOfClient(IN_ZERO), 7, 'there was no room for it')
})

test('a client that has moved to where its id says is there, although no entry names it', () => {
  const old = entryOf(7, { clients: [IN_ZERO] })
  const directory = new CellDirectory([0, 7], [entryOf(0), old], learnt(0, { 0: LATER_MS, 7: -1 }))
  assert.equal(directory.cellOfClient(IN_ZERO), 0)
})
