// All cells, and the directory that their entries make. Each is asked for its entry every few seconds, and when a 308
// shows that something has moved; the last good entry of a cell that is away stays in use until it is back.

import { compactVerify, importJWK, type JWK } from 'jose'
import {
  CellDirectory,
  type CellEntry,
  ENTRY_TYPE,
  parseEntry,
} from '../core/network/cell-directory.ts'
import { BoundedMap } from '../core/plain/bounded-map.ts'
import { readKeyId, TOKEN_ALGORITHM } from '../core/proofs/token.ts'
import type { CellAddress } from './route-config.ts'
import { RoutedCell, readAnswer } from './routed-cell.ts'

export interface KnownCellsOptions {
  cells: readonly CellAddress[]
  /** An operator's key that may read the directory. */
  key: string
  /** Of each cell, under way at once. */
  requestsMax?: number | undefined
  log: { warn(line: object, message: string): void; info(line: object, message: string): void }
  refreshEveryMs?: number
}

interface VerifiedEntry {
  entry: CellEntry
  jws: string
  askedAtMs: number
}

const REFRESH_EVERY_MS = 3_000
const LEARNT_MAX = 10_000
const REFRESH_MS_MAX = 5_000
/** However many requests find that something has moved. */
const AGAIN_AFTER_MS = 500
const KEYS_BYTES_MAX = 256 * 1_024
/** 40,000 ids, in base64url. */
const ENTRY_BYTES_MAX = 4 * 1_024 * 1_024

export class KnownCells {
  readonly all: readonly RoutedCell[]
  readonly #options: KnownCellsOptions
  readonly #entries = new Map<number, VerifiedEntry>()
  readonly #reasons = new Map<number, string>()
  readonly #keys = new Map<number, readonly JWK[]>()
  readonly #learnt = new BoundedMap<string, { cell: number; atMs: number }>(LEARNT_MAX)
  #directory: CellDirectory
  #timer: NodeJS.Timeout | undefined
  #underWay: Promise<void> | null = null
  #refreshedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: KnownCellsOptions) {
    this.#options = options
    this.all = options.cells.map((cell) => new RoutedCell(cell, options.requestsMax))
    this.#directory = this.#build()
  }

  /** As it is now: a request, or a batch, uses one from its beginning to its end. */
  get directory(): CellDirectory {
    return this.#directory
  }

  find(cell: number): RoutedCell | undefined {
    return this.all.find((one) => one.cell === cell)
  }

  /** Those that answered last come first. */
  inTurn(): readonly RoutedCell[] {
    return [...this.all.filter((cell) => !cell.isAway), ...this.all.filter((cell) => cell.isAway)]
  }

  /** Why a cell is away, or its entry is not used; null for one that is as it should be. */
  reasonOf(cell: number): string | null {
    return this.#reasons.get(cell) ?? null
  }

  jwsOf(cell: number): string | null {
    return this.#entries.get(cell)?.jws ?? null
  }

  entryOf(cell: number): CellEntry | null {
    return this.#entries.get(cell)?.entry ?? null
  }

  async start(): Promise<void> {
    await this.refresh()
    const everyMs = this.#options.refreshEveryMs ?? REFRESH_EVERY_MS
    this.#timer = setInterval(() => void this.refresh(), everyMs)
    this.#timer.unref()
  }

  /**
   * The 308 of a cell has said where a client, or an account, is now, to a caller that the cell has authenticated. Only the
   * cell that has it, as far as we know, can say where it has gone.
   */
  learn(id: string, from: number, cell: number): void {
    const { directory } = this
    if (directory.cellOfClient(id) !== from && directory.cellOfAccount(id) !== from) return
    this.#learnt.set(hopOf(id.toLowerCase(), from), { cell, atMs: performance.now() })
  }

  /** Something has moved: all who wait share one look, and it is not taken more often than twice a second. */
  async refreshSoon(): Promise<void> {
    if (performance.now() - this.#refreshedAtMs >= AGAIN_AFTER_MS) await this.refresh()
  }

  refresh(): Promise<void> {
    this.#underWay ??= this.#refreshAll().finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.all.map((cell) => cell.close()))
  }

  async #refreshAll(): Promise<void> {
    this.#refreshedAtMs = performance.now()
    await Promise.all(this.all.map((cell) => this.#refreshOne(cell)))
    this.#directory = this.#build()
  }

  async #refreshOne(cell: RoutedCell): Promise<void> {
    const before = this.#reasons.get(cell.cell)
    try {
      this.#entries.set(cell.cell, await this.#readEntry(cell))
      this.#reasons.delete(cell.cell)
      if (before !== undefined) this.#options.log.info({ cell: cell.cell }, 'cell.back')
    } catch (error) {
      const reason = error instanceof EntryRefused ? error.message : 'cannot be reached'
      this.#reasons.set(cell.cell, reason)
      if (reason !== before) this.#options.log.warn({ cell: cell.cell, reason }, 'cell.away')
    }
  }

  async #readEntry(cell: RoutedCell): Promise<VerifiedEntry> {
    const signal = AbortSignal.timeout(REFRESH_MS_MAX)
    const askedAtMs = performance.now()
    const answer = await cell.send({
      side: 'operator',
      method: 'GET',
      path: '/operator/v1/cells',
      headers: ['authorization', `Bearer ${this.#options.key}`, 'accept', 'application/json'],
      signal,
      callers: null,
    })
    const bytes = await readAnswer(answer, ENTRY_BYTES_MAX)
    if (answer.status >= 500) throw new EntryRefused(`answers with ${answer.status}`)
    if (answer.status !== 200) {
      throw new EntryRefused(`refuses the key of PAYBELL_ROUTE_KEY (${answer.status})`)
    }
    const { items } = readJson(bytes) as { items?: { entry?: unknown }[] }
    const jws = items?.length === 1 ? items[0]?.entry : undefined
    if (typeof jws !== 'string') throw new EntryRefused('gives no entry of its own')
    const entry = parseEntry(await this.#verify(cell, jws, signal), Date.now())
    if (entry === null) throw new EntryRefused('gives an entry that is malformed or not of now')
    if (entry.cell !== cell.cell) throw new EntryRefused(`answers as cell ${entry.cell}`)
    return { entry, jws, askedAtMs }
  }

  async #verify(cell: RoutedCell, jws: string, signal: AbortSignal): Promise<unknown> {
    const kid = readKeyId(jws, { typ: ENTRY_TYPE, bytesMax: ENTRY_BYTES_MAX })
    const cachedKey = this.#keys.get(cell.cell)?.find((key) => key.kid === kid)
    const jwk = cachedKey ?? (await this.#readKeys(cell, signal)).find((key) => key.kid === kid)
    if (kid === null || jwk === undefined) throw new EntryRefused('gives an entry without its key')
    try {
      const key = await importJWK(jwk, TOKEN_ALGORITHM)
      const { payload } = await compactVerify(jws, key, { algorithms: [TOKEN_ALGORITHM] })
      return readJson(Buffer.from(payload))
    } catch {
      throw new EntryRefused('gives an entry with a wrong signature')
    }
  }

  async #readKeys(cell: RoutedCell, signal: AbortSignal): Promise<readonly JWK[]> {
    const path = '/.well-known/webhook-keys.json'
    const answer = await cell.send({
      side: 'public',
      method: 'GET',
      path,
      headers: [],
      signal,
      callers: null,
    })
    const { keys } = readJson(await readAnswer(answer, KEYS_BYTES_MAX)) as { keys?: JWK[] }
    const list = Array.isArray(keys) ? keys : []
    this.#keys.set(cell.cell, list)
    return list
  }

  #build(): CellDirectory {
    // Also the last word of a cell that has been away for days: who has left it is known by it alone.
    const used = [...this.#entries.values()]
    const askedAtMs = new Map(used.map((one) => [one.entry.cell, one.askedAtMs]))
    return new CellDirectory(
      this.all.map(({ cell }) => cell),
      used.map(({ entry }) => entry),
      {
        get: (id, from) => this.#learnt.get(hopOf(id, from)),
        askedAtMs: (cell) => askedAtMs.get(cell),
      },
    )
  }
}

function hopOf(id: string, from: number): string {
  return `${id} ${from}`
}

/** It answered, but what it gave is not used. The message follows "Cell 7". */
class EntryRefused extends Error {}

function readJson(bytes: Buffer | null): unknown {
  try {
    return JSON.parse(bytes?.toString() ?? '')
  } catch {
    return {}
  }
}
