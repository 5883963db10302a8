// Which cell has which account, for a producer that writes to each cell itself instead of through `paybell route`. The
// directory is read at the producer's own address and nowhere else, and each entry of it is verified. What it does not
// know, or has got wrong because an account has just moved, goes to that address, which always knows.

import type { Caller } from '../calling/caller.ts'
import { type KeySet, verifySigned } from '../proving/signed.ts'
import type { CellItem } from '../wire/operator-types.ts'
import {
  createOperatorCallers,
  type OperatorCallers,
  type OperatorOptions,
} from './operator-caller.ts'

export interface DirectoryOptions {
  /** A key with the role `viewer`, which reads the directory; by default the producer's own. */
  operatorKey?: string | undefined
  /** How old the directory may get: 60 by default. */
  maxAgeSeconds?: number | undefined
}

export interface ProducerOptions extends OperatorOptions {
  /**
   * Where several cells share the clients, and `baseUrl` is that of `paybell route`: writes go to the cell of their
   * account directly. The addresses of the cells must be reachable from here.
   */
  directory?: DirectoryOptions | undefined
}

interface Entry {
  cell: number
  address: string
  stampedSince: string
  /** Accounts that have left the cell, by where they went; a cell of 0.2 does not say. */
  moved?: readonly { cell: number; accounts: readonly string[] }[]
  issuedAt: string
}

interface Directory {
  callers: ReadonlyMap<number, OperatorCallers>
  /** For each cell, where accounts have gone that have left it. */
  left: ReadonlyMap<number, ReadonlyMap<string, number>>
  stampedSinceMs: number
}

const ENTRY_TYPE = 'paybell-cell+jws'
/** However many writes find that something has moved. */
const AGAIN_AFTER_MS = 1_000
const ENTRY_AGE_MS_MAX = 24 * 3_600_000
const CELL_DIGITS = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]([0-3][0-9a-f]{2})-/
const NOTHING: Directory = { callers: new Map(), left: new Map(), stampedSinceMs: 0 }

/** The cell that was asked does not have the account, or no more. */
export function isElsewhere(code: string | undefined): boolean {
  return code === 'client-moved' || code === 'unknown-account'
}

/** The callers of cells, by account. */
export interface CellCallers {
  /** Those of `baseUrl` where the cell of the account is not known. */
  of(accountId: string): Promise<OperatorCallers>
  /** The service said that an account is elsewhere. */
  refresh(): Promise<void>
}

export function createCellCallers(
  options: ProducerOptions,
  own: OperatorCallers,
): CellCallers | null {
  const { directory } = options
  if (directory === undefined) return null
  const reader = createOperatorCallers({
    ...options,
    operatorKey: directory.operatorKey ?? options.operatorKey,
  }).caller
  const maxAgeMs = (directory.maxAgeSeconds ?? 60) * 1_000
  let learnt = NOTHING
  let askedAtMs = Number.NEGATIVE_INFINITY
  let underWay: Promise<void> | null = null

  async function ask(): Promise<void> {
    askedAtMs = Date.now()
    try {
      learnt = await readDirectory(reader, options)
    } catch {
      // What was known is as good as it was, and where nothing was, `baseUrl` knows.
    } finally {
      underWay = null
    }
  }

  const refreshAfter = async (ms: number) => {
    if (underWay === null && Date.now() - askedAtMs >= ms) underWay = ask()
    if (underWay !== null) await underWay
  }
  return {
    async of(accountId) {
      await refreshAfter(maxAgeMs)
      const cell = cellOfAccount(learnt, accountId.toLowerCase())
      return (cell === null ? undefined : learnt.callers.get(cell)) ?? own
    },
    refresh: () => refreshAfter(AGAIN_AFTER_MS),
  }
}

async function readDirectory(reader: Caller, options: ProducerOptions): Promise<Directory> {
  const { items } = await reader.get<{ items: CellItem[] }>('/operator/v1/cells')
  const keys = await reader.get<KeySet>('/.well-known/webhook-keys.json')
  const read = await Promise.all(items.map((item) => readEntry(item, keys)))
  const entries = read.filter((entry) => entry !== null)
  const callers = new Map<number, OperatorCallers>()
  const left = new Map<number, ReadonlyMap<string, number>>()
  for (const { cell, address, moved = [] } of entries) {
    const caller = callersAt(address, options)
    if (caller !== null) callers.set(cell, caller)
    left.set(cell, new Map(moved.flatMap((to) => to.accounts.map((id) => [id, to.cell] as const))))
  }
  const first = entries.find(({ cell }) => cell === 0)
  return { callers, left, stampedSinceMs: Date.parse(first?.stampedSince ?? '') || 0 }
}

/** Null for a cell that is away, and for an entry that no key of the service has signed. */
async function readEntry({ cell, isAway, entry }: CellItem, keys: KeySet): Promise<Entry | null> {
  if (isAway || entry === null) return null
  try {
    const claims = await verifySigned<Entry>(entry, keys, ENTRY_TYPE)
    const isYoung = Date.now() - Date.parse(claims.issuedAt) < ENTRY_AGE_MS_MAX
    return claims.cell === cell && isYoung && Array.isArray(claims.moved ?? []) ? claims : null
  } catch {
    return null
  }
}

/** Null for an address that no key may be sent to. */
function callersAt(address: string, options: ProducerOptions): OperatorCallers | null {
  try {
    return createOperatorCallers({ ...options, baseUrl: address })
  } catch {
    return null
  }
}

/**
 * From the cell that made the account on, as long as one says that it has left: none gets what no other has sent to it.
 * Null where that is not known, or leads back.
 */
function cellOfAccount(directory: Directory, id: string): number | null {
  let cell = homeOfAccount(directory, id)
  for (let hops = 0; cell !== null && hops <= directory.left.size; hops++) {
    const next: number | undefined = directory.left.get(cell)?.get(id)
    if (next === undefined) return cell
    cell = next
  }
  return null
}

/** Ids tell their cell, since cells do; those of before are the first cell's. */
function homeOfAccount({ stampedSinceMs }: Directory, id: string): number | null {
  const digits = CELL_DIGITS.exec(id)?.[1]
  if (digits === undefined) return null
  const madeAtMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return madeAtMs < stampedSinceMs ? 0 : Number.parseInt(digits, 16)
}
