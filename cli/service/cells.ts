// `paybell cells create|list|move` and `paybell clients move`: which cells a database has, a new one, a cell's way
// to another node, and a client's to another cell. They work on the databases themselves, as the role that owns the schema.

import { readFileSync } from 'node:fs'
import { type Config, loadConfig } from '../../server/config/config.ts'
import { LEASE_POLICY } from '../../server/core/delivery/lease.ts'
import { parseBaseUrl } from '../../server/core/network/base-url.ts'
import { addressOfCell, parseDatabaseUrl } from '../../server/core/network/database-url.ts'
import { shareSigningKeys } from '../../server/operations/access/share-signing-keys.ts'
import { moveClient, undoMove } from '../../server/operations/clients/move-client.ts'
import { createPool, inTransaction } from '../../server/store/connection/db.ts'
import {
  type DatabaseGauges,
  readDatabaseGauges,
} from '../../server/store/history/service-figures.ts'
import {
  type ClusterNode,
  distributeCell,
  moveCell,
  readCells,
  readNodeOfCell,
  readNodes,
} from '../../server/store/schema/cells.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { formatCount, plural } from '../basics/terminal.ts'
import { namingDatabase } from './database-failure.ts'
import { keyringDepsOf } from './keyring-deps.ts'
import { reasonOf } from './reason.ts'

interface Output {
  json?: boolean
}

export async function createCell(
  cell: number,
  options: Output & { keysFrom?: number; keysDatabaseFile?: string },
): Promise<void> {
  const config = loadConfig('production', process.env)
  const url = addressOfCell(config.databaseUrl as string, cell)
  const applied = await namingDatabase(migrate(url, new Date()))
  const isDistributed = await onPool(
    url,
    (pool) => inTransaction(pool, distributeCell),
    NO_LIMIT_MS,
  )
  const { keysFrom } = options
  const keys =
    keysFrom === undefined
      ? 0
      : await onPool(readDatabase(options.keysDatabaseFile, url, keysFrom), async (pool) => {
          const sealer = new Sealer(config.masterKeys)
          const from = await keyringDepsOf({ config, pool, sealer }, keysFrom)
          return onPool(url, (to) => shareSigningKeys(from, to))
        })
  if (options.json) {
    console.log(JSON.stringify({ cell, applied, isDistributed, keys }))
    return
  }
  console.log(applied.length === 0 ? `Cell ${cell} is there already.` : `Created cell ${cell}.`)
  if (isDistributed) console.log('The cluster has placed it on a node.')
  if (keysFrom !== undefined) {
    console.log(
      keys === 0
        ? `It has the signing keys of cell ${keysFrom} already.`
        : `Copied ${plural(keys, 'signing key')} from cell ${keysFrom}.`,
    )
  }
  console.log(`Next: PAYBELL_CELL=${cell} paybell serve`)
}

interface ListedCell {
  cell: number
  bytes: number
  node: string | null
  due: number | null
  scheduled: number | null
  oldestDueSeconds: number | null
  /** Why its deliveries are not counted; null where they are. */
  problem: string | null
}

export async function listCells(options: Output): Promise<void> {
  const { databaseUrl } = loadConfig('production', process.env)
  const url = databaseUrl as string
  const cells: ListedCell[] = []
  for (const { cell, bytes, node, isMigrated } of await namingDatabase(onPool(url, readCells))) {
    const now = new Date()
    const asked = isMigrated
      ? await askCell(addressOfCell(url, cell), now)
      : { gauges: null, problem: NOT_MIGRATED }
    const { gauges, problem } = asked
    const oldest = gauges?.oldestDueAtMs ?? null
    cells.push({
      cell,
      bytes,
      node,
      due: gauges?.due ?? null,
      scheduled: gauges?.scheduled ?? null,
      oldestDueSeconds: oldest === null ? null : Math.max(0, (now.getTime() - oldest) / 1_000),
      problem,
    })
  }
  if (options.json) {
    console.log(JSON.stringify({ cells }))
    return
  }
  console.log('CELL  SIZE       DUE      SCHEDULED  OLDEST DUE  NODE')
  for (const cell of cells) console.log(lineOf(cell))
}

const NOT_MIGRATED = 'not at this version: run paybell migrate with its PAYBELL_CELL'
/** A table, a column or a function that a later migration makes. */
const MISSING_CODES = new Set(['42P01', '42703', '42883'])

/** One that cannot be asked, on a node that is dead for example, does not keep the others from the list. */
async function askCell(
  address: string,
  now: Date,
): Promise<{ gauges: DatabaseGauges | null; problem: string | null }> {
  try {
    const gauges = await onPool(address, (pool) => readDatabaseGauges(pool, now, 5_000))
    return { gauges, problem: null }
  } catch (error) {
    const { code } = error as { code?: string }
    const problem = MISSING_CODES.has(code ?? '') ? NOT_MIGRATED : reasonOf(error)
    return { gauges: null, problem }
  }
}

function lineOf(listed: ListedCell): string {
  const { cell, bytes, node, due, scheduled, oldestDueSeconds, problem } = listed
  const count = (value: number | null) => (value === null ? '–' : formatCount(value))
  const age = oldestDueSeconds === null ? '–' : `${Math.round(oldestDueSeconds)} s`
  return [
    String(cell).padEnd(4),
    `${Math.round(bytes / 1_048_576)} MB`.padEnd(9),
    count(due).padEnd(7),
    count(scheduled).padEnd(9),
    age.padEnd(10),
    (node ?? 'this server') + (problem === null ? '' : ` (${problem})`),
  ].join('  ')
}

export async function moveCellCommand(
  cell: number,
  options: Output & { to: string },
): Promise<void> {
  const { databaseUrl } = loadConfig('production', process.env)
  const url = addressOfCell(databaseUrl as string, cell)
  const moved = await namingDatabase(
    onPool(
      url,
      async (pool) => {
        const nodes = await readNodes(pool)
        if (nodes === null) {
          throw new Error(
            'this database has no Citus, so a cell has no node: move its clients with "paybell clients move"',
          )
        }
        const from = await readNodeOfCell(pool)
        if (from === null) {
          throw new Error(`cell ${cell} is not on a node yet: run "paybell cells create ${cell}"`)
        }
        const to = findNode(nodes, options.to)
        const startedMs = performance.now()
        if (nameOf(to) !== from) await moveCell(pool, to)
        return { from, to: nameOf(to), seconds: (performance.now() - startedMs) / 1_000 }
      },
      NO_LIMIT_MS,
    ),
  )
  if (options.json) console.log(JSON.stringify({ cell, ...moved }))
  else if (moved.from === moved.to) console.log(`Cell ${cell} is on ${moved.to} already.`)
  else {
    console.log(
      `Moved cell ${cell} from ${moved.from} to ${moved.to} in ${moved.seconds.toFixed(1)} s.`,
    )
  }
}

/** By `host:port`, or by the host alone where it has one node. */
function findNode(nodes: readonly ClusterNode[], name: string): ClusterNode {
  const found = nodes.filter((node) => nameOf(node) === name || node.host === name)
  const [node] = found
  if (node !== undefined && found.length === 1) return node
  throw new Error(
    `${found.length === 0 ? 'no node' : 'several nodes'} of the cluster can be called ${name}: name one of ${nodes.map(nameOf).join(', ')}`,
  )
}

function nameOf({ host, port }: ClusterNode): string {
  return `${host}:${port}`
}

export interface MoveCommandOptions extends Output {
  to: number
  address: string
  toDatabaseFile?: string
  undo?: boolean
}

export async function moveClientCommand(
  clientId: string,
  options: MoveCommandOptions,
): Promise<void> {
  const config = loadConfig('production', process.env)
  const ends = {
    sourceUrl: config.databaseUrl as string,
    targetUrl: readTarget(config, options),
  }
  if (options.undo) {
    await namingDatabase(undoMove({ clientId, ...ends }))
    console.log(options.json ? JSON.stringify({ undone: true }) : 'The client stays where it was.')
    return
  }
  const toAddress = parseBaseUrl(options.address)
  if (toAddress === undefined) throw new Error('--address must be an absolute http or https URL')
  const { rows, frozenMs } = await namingDatabase(
    moveClient({
      clientId,
      toCell: options.to,
      toAddress,
      ...ends,
      drainMs: LEASE_POLICY.leaseMs,
      onStep: (step) => {
        if (!options.json) console.log(step)
      },
    }),
  )
  const summary =
    rows === 0
      ? `It is in cell ${options.to} already. What was left of it here is removed.`
      : `Moved to cell ${options.to}: ${formatCount(rows)} rows. Nothing was accepted for it for ${(frozenMs / 1_000).toFixed(1)} s.`
  console.log(
    options.json ? JSON.stringify({ clientId, toCell: options.to, rows, frozenMs }) : summary,
  )
}

/** A cell of the database that a file names, or without a file of this one. */
function readDatabase(file: string | undefined, own: string, cell: number): string {
  const url = file === undefined ? own : readFileSync(file, 'utf8').trim()
  if (parseDatabaseUrl(url) === undefined) {
    throw new Error('the file of --keys-database-file holds no address of a PostgreSQL')
  }
  return addressOfCell(url, cell)
}

/** Another cell of the same database, unless a file names another one. */
function readTarget({ databaseUrl, cell }: Config, options: MoveCommandOptions): string {
  const { toDatabaseFile: file, to } = options
  const url = file === undefined ? (databaseUrl as string) : readFileSync(file, 'utf8').trim()
  if (parseDatabaseUrl(url) === undefined) {
    throw new Error('the file of --to-database-file holds no address of a PostgreSQL')
  }
  if (file === undefined && to === cell) throw new Error('the client is in this cell already')
  return addressOfCell(url, to)
}

/** A large cell takes hours to copy. PostgreSQL takes 0 for no limit; the driver needs a number. */
const NO_LIMIT_MS = 7 * 86_400_000

async function onPool<T>(
  url: string,
  work: (pool: ReturnType<typeof createPool>) => Promise<T>,
  statementTimeoutMs?: number,
): Promise<T> {
  const pool = createPool({
    url,
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
    connectionsMax: 1,
    onIdleError: () => {},
    applicationName: 'paybell cells',
  })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
