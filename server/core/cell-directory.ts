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

/** Clients and accounts by what a 308 has said. It needs no end: where it is wrong by now, another 308 says so. */
export type LearntCells = Pick<ReadonlyMap<string, number>, 'get'>

/** The entries of all cells, as they are known now. */
export class CellDirectory {
  readonly #cells: ReadonlySet<number>
  readonly #fallback: number
  readonly #stampedSinceMs: number
  readonly #clients = new Map<string, number>()
  readonly #accounts = new Map<string, number>()
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
    }
  }

  cellOfClient(id: string): number {
    const key = id.toLowerCase()
    return this.#learnt?.get(key) ?? this.#clients.get(key) ?? this.cellOfId(id)
  }

  cellOfAccount(id: string): number {
    const key = id.toLowerCase()
    return this.#learnt?.get(key) ?? this.#accounts.get(key) ?? this.cellOfId(id)
  }

  /** The cell that made an id; for an id of no cell the first, which answers as for any unknown one. */
  cellOfId(id: string): number {
    const home = homeOfId(id, this.#stampedSinceMs)
    return home !== null && this.#cells.has(home) ? home : this.#fallback
  }
}
