// Which cell has which client. An id tells the cell that made it, so only what lives elsewhere is written down: each
// cell signs an entry with the clients and accounts that it has although their ids say otherwise. All entries together
// are the directory. Pure: operations/view-cell.ts makes an entry, route/ and the SDK read them.

import { FIRST_CELL, homeOfId, parseCell } from './cell.ts'
import { CANONICAL_UUID } from './uuid.ts'

/** The `typ` of the JWS. */
export const ENTRY_TYPE = 'paybell-cell+jws'
/** Of each list, in one entry: less than 1 MiB in all. */
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
  /** Clients that live here although their ids name another cell. */
  clients: readonly string[]
  /** The same of accounts. */
  accounts: readonly string[]
  issuedAt: string
}

/** The entry that a verified JWS says; null for what is none, or not of now. */
export function parseEntry(value: unknown, nowMs: number): CellEntry | null {
  if (typeof value !== 'object' || value === null) return null
  const { version, cell, address, stampedSince, clients, accounts, issuedAt } = value as Record<
    string,
    unknown
  >
  if (version !== 1 || parseCell(String(cell)) !== cell) return null
  if (typeof address !== 'string' || !isInstant(stampedSince) || !isInstant(issuedAt)) return null
  if (!isIds(clients) || !isIds(accounts)) return null
  const ageMs = nowMs - Date.parse(issuedAt)
  if (ageMs > ENTRY_AGE_MS_MAX || ageMs < -ENTRY_AHEAD_MS_MAX) return null
  return { version, cell: cell as number, address, stampedSince, clients, accounts, issuedAt }
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

/** A cell shows an entry for a while before it makes another: one that is asked for this much later is newer. */
const ENTRY_KEPT_MS_MAX = 10_000

/**
 * Clients and accounts by what the 308 of their old cell has said. It closes the gap until the entries say the same: a
 * newer entry decides instead. Times are of one monotonic clock, the reader's own.
 */
export interface LearntCells {
  get(id: string): { cell: number; atMs: number } | undefined
  /** When the entry that the directory has of a cell was asked for; undefined without one. */
  askedAtMs(cell: number): number | undefined
}

/** The entries of all cells, as they are known now. */
export class CellDirectory {
  readonly #cells: ReadonlySet<number>
  readonly #fallback: number
  readonly #stampedSinceMs: number
  readonly #clients = new Map<string, number>()
  readonly #accounts = new Map<string, number>()
  /** Cells whose entries have no room for more ids: who is not in one may live there all the same. */
  readonly #full = new Set<number>()
  readonly #learnt: LearntCells | undefined

  /** `cells` are those that there are, also those that have given no entry yet. */
  constructor(cells: readonly number[], entries: readonly CellEntry[], learnt?: LearntCells) {
    this.#learnt = learnt
    this.#cells = new Set(cells)
    this.#fallback = Math.min(...cells)
    const first = entries.find(({ cell }) => cell === FIRST_CELL)
    this.#stampedSinceMs = first === undefined ? 0 : Date.parse(first.stampedSince)
    // Of two that claim a client, the one that has looked last is right: the other has not been asked since.
    const byTime = entries.toSorted((one, other) => (one.issuedAt < other.issuedAt ? -1 : 1))
    for (const { cell, clients, accounts } of byTime) {
      for (const id of clients) this.#clients.set(id, cell)
      for (const id of accounts) this.#accounts.set(id, cell)
      if (Math.max(clients.length, accounts.length) >= ENTRY_IDS_MAX) this.#full.add(cell)
    }
  }

  cellOfClient(id: string): number {
    return this.#cellOf(id, this.#clients)
  }

  cellOfAccount(id: string): number {
    return this.#cellOf(id, this.#accounts)
  }

  /** The cell that made an id; for an id of no cell the first, which answers as for any unknown one. */
  cellOfId(id: string): number {
    const home = homeOfId(id, this.#stampedSinceMs)
    return home !== null && this.#cells.has(home) ? home : this.#fallback
  }

  #cellOf(id: string, claims: ReadonlyMap<string, number>): number {
    const key = id.toLowerCase()
    const claim = claims.get(key)
    const home = this.cellOfId(id)
    const learnt = this.#learnt?.get(key)
    if (learnt === undefined) return claim ?? home
    const isNewer = (cell: number) =>
      (this.#learnt?.askedAtMs(cell) ?? Number.NEGATIVE_INFINITY) > learnt.atMs + ENTRY_KEPT_MS_MAX
    if (claim !== undefined && isNewer(claim)) return claim
    // The cell that it was said to be in does not name it. An entry that is full says nothing about the rest, and none
    // names those who are where their ids say.
    const isDenied = learnt.cell !== home && !this.#full.has(learnt.cell) && isNewer(learnt.cell)
    return isDenied ? (claim ?? home) : learnt.cell
  }
}
