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
    moved: [],
    issuedAt: '2026-11-16T11:59:50.000Z',
    keptMs: 10_000,
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

/** Both ids have left for this cell. */
function movedTo(cell: number, more: Partial<CellEntry> = {}): Partial<CellEntry> {
  return { moved: [{ cell, clients: [IN_ZERO], accounts: [OF_BEFORE] }], ...more }
}

test('a client that has moved is where its home says, and so is each of its accounts', () => {
  const directory = new CellDirectory([0, 7], [entryOf(0, movedTo(7)), entryOf(7)])
  assert.equal(directory.cellOfClient(IN_ZERO), 7)
  assert.equal(directory.cellOfClient(IN_ZERO.toUpperCase()), 7)
  assert.equal(directory.cellOfAccount(OF_BEFORE), 7)
  assert.equal(directory.cellOfAccount(IN_ZERO), 0)
  assert.equal(directory.cellOfId(IN_ZERO), 0)
})

test('regression: a cell that claims a client which no other has sent to it does not get it', () => {
  const forged = entryOf(9, { clients: [IN_ZERO, IN_SEVEN], accounts: [IN_ZERO, OF_BEFORE] })
  for (const home of [[entryOf(0)], [entryOf(0, movedTo(7))], []]) {
    const directory = new CellDirectory([0, 7, 9], [...home, entryOf(7), forged])
    const right = home[0]?.moved.length ? 7 : 0
    assert.equal(directory.cellOfClient(IN_ZERO), right)
    assert.equal(directory.cellOfClient(IN_SEVEN), 7)
    assert.equal(directory.cellOfAccount(IN_ZERO), 0)
  }
  // What it says of those who have left it counts only for those whom it has had.
  const pulling = entryOf(9, movedTo(9))
  assert.equal(new CellDirectory([0, 9], [entryOf(0), pulling]).cellOfClient(IN_ZERO), 0)
})

test('a client that has moved twice is followed twice, and one that has come back is at home', () => {
  const twice = [entryOf(0, movedTo(7)), entryOf(7, movedTo(9)), entryOf(9)]
  assert.equal(new CellDirectory([0, 7, 9], twice).cellOfClient(IN_ZERO), 9)
  const back = [entryOf(0), entryOf(7, movedTo(0))]
  assert.equal(new CellDirectory([0, 7], back).cellOfClient(IN_ZERO), 0)
})

test('a circle ends at the cell that was asked the longest ago: it does not know yet', () => {
  const old = '2026-11-16T11:00:00.000Z'
  const isBack = [entryOf(0, movedTo(7, { issuedAt: old })), entryOf(7, movedTo(0))]
  const isAway = [entryOf(0, movedTo(7)), entryOf(7, movedTo(0, { issuedAt: old }))]
  assert.equal(new CellDirectory([0, 7], isBack).cellOfClient(IN_ZERO), 0)
  assert.equal(new CellDirectory([0, 7], isAway).cellOfClient(IN_ZERO), 7)
})

test('clients of a cell that is not there any more are where a cell claims them', () => {
  const claiming = entryOf(7, { clients: [IN_ZERO] })
  assert.equal(new CellDirectory([3, 7], [entryOf(3), claiming]).cellOfClient(IN_ZERO), 7)
  const through = [entryOf(0, movedTo(5)), claiming]
  assert.equal(new CellDirectory([0, 7], through).cellOfClient(IN_ZERO), 7)
  assert.equal(new CellDirectory([0, 7], [entryOf(0, movedTo(5))]).cellOfClient(IN_ZERO), 0)
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
    { ...good, moved: [{ cell: 1_024, clients: [], accounts: [] }] },
    { ...good, moved: [{ cell: 7, clients: ['no uuid'], accounts: [] }] },
    { ...good, moved: [7, null] },
    {
      ...good,
      moved: [1, 2].map((cell) => ({
        cell,
        clients: Array.from({ length: 5_001 }, () => IN_ZERO),
        accounts: [],
      })),
    },
    { ...good, keptMs: 600_001 },
    { ...good, keptMs: '1' },
    { ...good, issuedAt: 'today' },
    { ...good, issuedAt: day },
    { ...good, issuedAt: '2026-11-16T12:30:00.000Z' },
  ]
  for (const value of wrong) assert.equal(parseEntry(value, NOW_MS), null, JSON.stringify(value))
})

test('an entry of 0.2.0 says nothing of those who have left', () => {
  const { moved, keptMs, ...older } = entryOf(7)
  assert.deepEqual(parseEntry(older, NOW_MS), { ...older, moved: [], keptMs: 10_000 })
})

/** What 308s said at 0 ms, each of one cell about another, and when the entries of the cells were asked for. */
function learnt(
  said: Readonly<Record<number, number>>,
  askedAtMs: Readonly<Record<number, number>> = {},
): LearntCells {
  return {
    get: (id, from) =>
      id === IN_ZERO && said[from] !== undefined ? { cell: said[from], atMs: 0 } : undefined,
    askedAtMs: (one) => askedAtMs[one],
  }
}

test('what a 308 has said comes before an entry of its cell that may be older, and not before a newer one', () => {
  const entries = [entryOf(0, { keptMs: 30_000 }), entryOf(7)]
  const cellAt = (atMs: number) =>
    new CellDirectory([0, 7], entries, learnt({ 0: 7 }, { 0: atMs, 7: atMs })).cellOfClient(
      IN_ZERO.toUpperCase(),
    )
  // Regression: the entry says itself how long it is shown.
  assert.deepEqual([-1, 0, 1, 29_999, 30_000, 30_001].map(cellAt), [7, 7, 7, 7, 7, 0])
})

test('an entry that had no room for a client does not deny what a 308 has said', () => {
  const moved = [
    { cell: 3, clients: Array.from({ length: 10_000 }, (_, n) => idOf(n)), accounts: [] },
  ]
  const entries = [entryOf(0, { moved }), entryOf(7)]
  const directory = new CellDirectory([0, 3, 7], entries, learnt({ 0: 7 }, { 0: 60_000 }))
  assert.equal(directory.cellOfClient(IN_ZERO), 7)
})

function idOf(n: number): string {
  return `019a8f6e-1c2d-7a3b-9000-${n.toString(16).padStart(12, '0')}`
}

test('a client that has come back is at home, although its home has not been asked since', () => {
  const entries = [entryOf(0, movedTo(7)), entryOf(7)]
  const directory = new CellDirectory([0, 7], entries, learnt({ 7: 0 }, { 0: -1, 7: -1 }))
  assert.equal(directory.cellOfClient(IN_ZERO), 0)
})
