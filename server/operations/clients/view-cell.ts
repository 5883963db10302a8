// What a cell says of itself: its number, its address, who has left it and where to, and who lives here although the id
// says otherwise. Signed with
// the service's own key, so that what passes it on cannot change it. Made a few times a minute at most.

import {
  type CellEntry,
  ENTRY_IDS_MAX,
  ENTRY_KEPT_MS_MAX,
  ENTRY_TYPE,
  type MovedIds,
} from '../../core/network/cell-directory.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import { readCellResidents, readStampedSince } from '../../store/moves/cell-residents.ts'
import { readLeft } from '../../store/moves/client-moves.ts'
import type { Deps } from '../shared/deps.ts'

/** A client that has just arrived is found by the 308 of its old cell until then. */
const KEPT_MS = 1_000
/** Looking through all clients takes long where there are very many: a twentieth of the time at most. */
const KEPT_PER_MS = 20

export interface SignedEntry {
  cell: number
  address: string
  /** A compact JWS of a CellEntry. */
  entry: string
}

export class CellViewer {
  readonly #deps: Deps
  readonly #address: () => string
  readonly #signed: Remembered<void, SignedEntry>
  /** Of the entry that is shown, which says it. */
  #keptMs = KEPT_MS

  constructor(deps: Deps, address: () => string) {
    this.#deps = deps
    this.#address = address
    const monotonicMs = () => deps.clock.monotonicMs()
    const ageMsMax = () => this.#keptMs
    this.#signed = new Remembered({ keysMax: 1, expiry: { monotonicMs, ageMsMax } })
  }

  view(): Promise<SignedEntry> {
    return this.#signed.get(undefined, () => this.#sign())
  }

  async #sign(): Promise<SignedEntry> {
    const { pool, clock, config, webhookKeys } = this.#deps
    const { cell } = config
    const address = config.cellAddress ?? this.#address()
    const startedAtMs = clock.monotonicMs()
    const stampedSince = await readStampedSince(pool)
    const residents = await readCellResidents(pool, {
      digits: cell.toString(16).padStart(3, '0'),
      above: uuidFloor(stampedSince.getTime()),
      max: ENTRY_IDS_MAX,
    })
    const moved = toMoved(await readLeft(pool, ENTRY_IDS_MAX))
    const lookMs = clock.monotonicMs() - startedAtMs
    this.#keptMs = Math.min(Math.max(KEPT_MS, KEPT_PER_MS * lookMs), ENTRY_KEPT_MS_MAX)
    const entry: CellEntry = {
      version: 1,
      cell,
      address,
      stampedSince: stampedSince.toISOString(),
      ...residents,
      moved,
      issuedAt: new Date(clock.nowMs()).toISOString(),
      keptMs: this.#keptMs,
    }
    return { cell, address, entry: await webhookKeys.signStatement(ENTRY_TYPE, entry) }
  }
}

function toMoved(left: Awaited<ReturnType<typeof readLeft>>): readonly MovedIds[] {
  const byCell = new Map<number, { clients: string[]; accounts: string[] }>()
  for (const { kind, id, cell } of left) {
    const ids = byCell.get(cell) ?? { clients: [], accounts: [] }
    ids[kind].push(id)
    byCell.set(cell, ids)
  }
  return [...byCell].map(([cell, ids]) => ({ cell, ...ids }))
}
