// Migrations are written for the first cell, whose schema is `paybell`, and are never edited. For another
// cell the few words that name the schema are put in its own on their way to the database: where a function
// looks for its tables, whom it notifies, and the seed of the lock of a payment. All else goes by search_path.

import type pg from 'pg'
import { FIRST_CELL, schemaOfCell } from '../../core/network/cell.ts'
import { toStatements } from './migration-statements.ts'

/** The text of a migration as it is for a cell. */
export function toCellMigration(text: string, cell: number): string {
  if (cell === FIRST_CELL) return text
  const schema = schemaOfCell(cell)
  return text
    .replaceAll(/\bsearch_path = paybell\b/g, `search_path = ${schema}`)
    .replaceAll(/\bpaybell\.(client_moves|clients)\b/g, `${schema}.$1`)
    .replaceAll("'paybell'::regnamespace", `'${schema}'::regnamespace`)
    .replaceAll("pg_notify('paybell'", `pg_notify('${schema}'`)
    .replaceAll(/\b(uuid_hash_extended\(\w+), 0\)/g, `$1, ${cell})`)
}

/** A connection for the migration runner, which sends each migration as one text. */
export function migrationsOfCell(
  client: pg.Client,
  cell: number,
  isDistributed: boolean,
): pg.Client {
  if (cell === FIRST_CELL && !isDistributed) return client
  const send = (sent: string | pg.QueryConfig, values?: unknown[]) =>
    typeof sent === 'string'
      ? client.query(toCellMigration(sent, cell), values)
      : client.query({ ...sent, text: toCellMigration(sent.text, cell) }, values)
  const sendEach = async (sent: string | pg.QueryConfig, values?: unknown[]) => {
    if (typeof sent !== 'string' || values !== undefined) return send(sent, values)
    let last: unknown
    for (const statement of toStatements(sent)) last = await send(statement)
    return last
  }
  const query = isDistributed ? sendEach : send
  return new Proxy(client, {
    get: (of, name) => (name === 'query' ? query : Reflect.get(of, name, of)),
  })
}
