// `paybell audit verify --database`: the audit as it lies in the database, without the service and its secrets.

import { readFileSync } from 'node:fs'
import { AuditChecker, type KnownHead } from '../../server/core/audit-check.ts'
import { CELL_MAX, FIRST_CELL, parseCell } from '../../server/core/cell.ts'
import { addressOfCell } from '../../server/core/database-url.ts'
import type { SealKeys } from '../../server/core/seal-signature.ts'
import { readSetting, type Setting } from '../../server/core/setting.ts'
import { checkDatabaseAudit, readDatabaseSealKeys } from '../../server/operations/verify-audit.ts'
import { createPool } from '../../server/store/db.ts'
import type { AuditResult } from '../audit-lines.ts'
import { UsageError } from '../run.ts'
import { namingDatabase } from './database-failure.ts'

/** Long portions of a large audit. */
const STATEMENT_MS_MAX = 120_000

/** Without keys of the caller's own, those of the database are trusted. */
export async function verifyDatabase(
  keys: SealKeys | null,
  heads: readonly KnownHead[],
): Promise<AuditResult> {
  const pool = createPool({
    url: readDatabaseUrl(),
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell audit verify',
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  try {
    return await namingDatabase(
      (async () => {
        const checker = new AuditChecker(keys ?? (await readDatabaseSealKeys({ pool })), heads)
        return checkDatabaseAudit({ pool }, checker, 0)
      })(),
    )
  } finally {
    await pool.end()
  }
}

/** Of the cell that PAYBELL_CELL names: each has an audit of its own. */
function readDatabaseUrl(): string {
  const faults: string[] = []
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const read = (setting: Setting) =>
    readSetting(setting, 'production', process.env, readFile, faults)
  const url = read({ name: 'DATABASE_URL', secret: true, about: '' })
  const cell = parseCell(read({ name: 'PAYBELL_CELL', about: '' }) ?? String(FIRST_CELL))
  if (cell === undefined) faults.push(`PAYBELL_CELL must be a whole number from 0 to ${CELL_MAX}.`)
  if (url === undefined || cell === undefined || faults.length > 0) {
    throw new UsageError(faults[0] ?? 'set DATABASE_URL to the database to verify.')
  }
  return addressOfCell(url, cell)
}
