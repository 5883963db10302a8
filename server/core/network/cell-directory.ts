// Which cell has which client. An id tells the cell that made it, its home, so only what has left is written down: each
// cell signs an entry with the clients and accounts that have left it, and where they went. From its home on, each cell that
// a client has left says the next: so no cell can claim a client that no other has sent to it. All entries together are the
// directory. Pure: operations/clients/view-cell.ts makes an entry, route/ and the SDK read them.

import { CANONICAL_UUID } from '../plain/uuid.ts'
import { CELL_MAX, FIRST_CELL, homeOfId, parseCell } from './cell.ts'

/** The `typ` of the JWS. */
export const ENTRY_TYPE = 'paybell-cell+jws'
/** Of each list, in one entry: less than 2 MiB in all. */
export const ENTRY_IDS_MAX = 10_000
/** An older entry is not used: what has moved since is found by its 308. */
export const ENTRY_AGE_MS_MAX = 24 * 3_600_000
/** The clocks of two machines differ by less. */
const ENTRY_AHEAD_MS_MAX = 5 * 60_000

/** What a cell says of itself. */
export interface CellEntry {
  version: 1
  cell: number
  /** Where the operator's side of this cell is reached, past any `paybell route`. */
  address: string
  /** Since then its ids tell their cell; of those before, the digits are random. */
  stampedSince: string
  /**
   * Clients that live here although their ids name another cell. Used for ids of cells that are not there any more, and by
   * readers of 0.2.0.
   */
  clients: readonly string[]
  /** The same of accounts. */
  accounts: readonly string[]
  /** Those that have left this cell, by where they went. */
  moved: readonly MovedIds[]
  issuedAt: string
  /** How long the cell shows this entry before it makes another. */
  keptMs: number
}

export interface MovedIds {
  cell: number
  clients: readonly string[]
  accounts: readonly string[]
}

/** Entries of 0.2.0 do not say it. */
const KEPT_MS_DEFAULT = 10_000
export const ENTRY_KEPT_MS_MAX = 600_000

/** The entry that a verified JWS says; null for what is none, or not of now. */
export function parseEntry(value: unknown, nowMs: number): CellEntry | null {
  if (typeof value !== 'object' || value === null) return null
  const given = value as Record<string, unknown>
  const { version, cell, address, stampedSince, clients, accounts, issuedAt } = given
  const { moved = [], keptMs = KEPT_MS_DEFAULT } = given
  if (version !== 1 || !isCell(cell)) return null
  if (typeof address !== 'string' || !isInstant(stampedSince) || !isInstant(issuedAt)) return null
  if (!isIds(clients) || !isIds(accounts) || !isMoved(moved)) return null
  if (typeof keptMs !== 'number' || !(keptMs >= 0 && keptMs <= ENTRY_KEPT_MS_MAX)) return null
  const ageMs = nowMs - Date.parse(issuedAt)
  if (ageMs > ENTRY_AGE_MS_MAX || ageMs < -ENTRY_AHEAD_MS_MAX) return null
  return { version, cell, address, stampedSince, clients, accounts, moved, issuedAt, keptMs }
}

function isCell(value: unknown): value is number {
  return parseCell(String(value)) === value
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 30 && !Number.isNaN(Date.parse(value))
}

function isIds(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= ENTRY_IDS_MAX &&
    value.every((id) => typeof id === 'string' && CANONICAL_UUID.test(id))
  )
}

function isMoved(value: unknown): value is readonly MovedIds[] {
  if (!Array.isArray(value) || value.length > CELL_MAX) return false
  const isGood = value.every(
    (one) => isCell(one?.cell) && Array.isArray(one.clients) && Array.isArray(one.accounts),
  )
  return (
    isGood &&
    isIds(value.flatMap((one) => one.clients)) &&
    isIds(value.flatMap((one) => one.accounts))
  )
}

/**
 * Where clients and accounts have gone, by what the 308 of the cell that they left has said. It closes the gap until the
 * entry of that cell says the same: a newer entry decides instead. Times are of one monotonic clock, the reader's own.
 */
export interface LearntCells {
  get(id: string, from: number): { cell: number; atMs: number } | undefined
  /** When the entry that the directory has of a cell was asked for; undefined without one. */
  askedAtMs(cell: number): number | undefined
}

type Kind = 'clients' | 'accounts'

/** What one cell says. */
interface Word {
  issuedAt: string
  keptMs: number
  clients: ReadonlyMap<string, number>
  accounts: ReadonlyMap<string, number>
  /** It has no room for more ids: who is not in it may have left all the same. */
  isFull: boolean
}

/** The entries of all cells, as they are known now. */
export class CellDirectory {
  readonly #cells: ReadonlySet<number>
  readonly #fallback: number
  readonly #stampedSinceMs: number
  readonly #words: ReadonlyMap<number, Word>
  /** Used only where the way of an id leads to a cell that is not there any more: there is no one else to ask. */
  readonly #claims = { clients: new Map<string, number>(), accounts: new Map<string, number>() }
  readonly #learnt: LearntCells | undefined

  /** `cells` are those that there are, also those that have given no entry yet. */
  constructor(cells: readonly number[], entries: readonly CellEntry[], learnt?: LearntCells) {
    this.#learnt = learnt
    this.#cells = new Set(cells)
    this.#fallback = Math.min(...cells)
    const first = entries.find(({ cell }) => cell === FIRST_CELL)
    this.#stampedSinceMs = first === undefined ? 0 : Date.parse(first.stampedSince)
    this.#words = new Map(entries.map((entry) => [entry.cell, toWord(entry)]))
    // Of two that claim a client, the one that has looked last is right: the other has not been asked since.
    const byTime = entries.toSorted((one, other) => (one.issuedAt < other.issuedAt ? -1 : 1))
    for (const entry of byTime) {
      for (const kind of ['clients', 'accounts'] as const) {
        for (const id of entry[kind]) this.#claims[kind].set(id, entry.cell)
      }
    }
  }

  cellOfClient(id: string): number {
    return this.#cellOf(id.toLowerCase(), 'clients')
  }

  cellOfAccount(id: string): number {
    return this.#cellOf(id.toLowerCase(), 'accounts')
  }

  /** The cell that made an id; for an id of no cell the first, which answers as for any unknown one. */
  cellOfId(id: string): number {
    return this.#homeOf(id) ?? this.#fallback
  }

  #homeOf(id: string): number | null {
    const home = homeOfId(id, this.#stampedSinceMs)
    return home !== null && this.#cells.has(home) ? home : null
  }

  /** From its home on, as long as a cell says that it has left. */
  #cellOf(id: string, kind: Kind): number {
    const claim = this.#claims[kind].get(id)
    let cell = this.#homeOf(id) ?? claim ?? this.#fallback
    const way: number[] = []
    while (!way.includes(cell)) {
      way.push(cell)
      const next = this.#nextOf(id, kind, cell)
      if (next === undefined) return cell
      if (!this.#cells.has(next)) return claim ?? cell
      cell = next
    }
    return this.#endOf(way.slice(way.indexOf(cell)), id)
  }

  #nextOf(id: string, kind: Kind, cell: number): number | undefined {
    return this.#learntOf(id, cell)?.cell ?? this.#words.get(cell)?.[kind].get(id)
  }

  /** What a 308 of the cell has said, unless its entry is newer. */
  #learntOf(id: string, from: number): { cell: number; atMs: number } | undefined {
    const learnt = this.#learnt?.get(id, from)
    const word = this.#words.get(from)
    if (learnt === undefined || word === undefined || word.isFull) return learnt
    const askedAtMs = this.#learnt?.askedAtMs(from) ?? Number.NEGATIVE_INFINITY
    return askedAtMs > learnt.atMs + word.keptMs ? undefined : learnt
  }

  /** A circle: the client has come back, and one cell has not been asked since. The newest 308 is right, else the others. */
  #endOf(circle: readonly number[], id: string): number {
    const learnt = circle
      .map((cell) => this.#learntOf(id, cell))
      .filter((one) => one !== undefined)
      .toSorted((one, other) => other.atMs - one.atMs)
    if (learnt[0] !== undefined) return learnt[0].cell
    const issuedAt = (cell: number) => this.#words.get(cell)?.issuedAt ?? ''
    return circle.reduce((one, other) => (issuedAt(other) < issuedAt(one) ? other : one))
  }
}

function toWord({ moved, issuedAt, keptMs }: CellEntry): Word {
  const listOf = (kind: Kind) =>
    new Map(moved.flatMap((one) => one[kind].map((id) => [id, one.cell] as const)))
  const [clients, accounts] = [listOf('clients'), listOf('accounts')]
  const isFull = Math.max(clients.size, accounts.size) >= ENTRY_IDS_MAX
  return { issuedAt, keptMs, clients, accounts, isFull }
}
