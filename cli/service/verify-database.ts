// `paybell audit verify --database`: the audit as it lies in the database, without the service. The keys of the
// database prove something only with the master key at hand, which tells the service's own from others.

import { readFileSync } from 'node:fs'
import { parseMasterKeys } from '../../server/config/parsers.ts'
import { CELL_MAX, FIRST_CELL, parseCell } from '../../server/core/network/cell.ts'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { readSetting, type Setting } from '../../server/core/plain/setting.ts'
import { AuditChecker, type KnownHead } from '../../server/core/proofs/audit-check.ts'
import type { AuditResult } from '../../server/core/proofs/audit-finding.ts'
import type { SealKeys } from '../../server/core/proofs/seal-signature.ts'
import {
  checkDatabaseAudit,
  readDatabaseSealKeys,
  readUnprovenSealKeys,
} from '../../server/operations/proofs/verify-audit.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { UsageError } from '../basics/run.ts'
import { namingDatabase } from './database-failure.ts'

/** Long portions of a large audit. */
const STATEMENT_MS_MAX = 120_000

/** Without keys of the caller's own, those of the database are used: with the master key, the service's own alone. */
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
        const checker = new AuditChecker(keys ?? (await readKeys(pool)), heads)
        return checkDatabaseAudit({ pool }, checker, 0)
      })(),
    )
  } finally {
    await pool.end()
  }
}

async function readKeys(pool: ReturnType<typeof createPool>): Promise<SealKeys> {
  const faults: string[] = []
  const text = readFrom({ name: 'PAYBELL_MASTER_KEY', secret: true, about: '' }, faults)
  if (faults[0] !== undefined) throw new UsageError(faults[0])
  if (text === undefined) {
    console.error(
      'The public keys come from this database and prove nothing against those who can write to it: set PAYBELL_MASTER_KEY, or give saved keys with --keys.',
    )
    return readUnprovenSealKeys({ pool })
  }
  const masterKeys = parseMasterKeys(text)
  if (masterKeys === undefined) {
    throw new UsageError('PAYBELL_MASTER_KEY must be 32 random bytes in base64 (comma-separated).')
  }
  return readDatabaseSealKeys({ pool, sealer: new Sealer(masterKeys) })
}

function readFrom(setting: Setting, faults: string[]): string | undefined {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  return readSetting(setting, 'production', process.env, readFile, faults)
}

/** Of the cell that PAYBELL_CELL names: each has an audit of its own. */
function readDatabaseUrl(): string {
  const faults: string[] = []
  const url = readFrom({ name: 'DATABASE_URL', secret: true, about: '' }, faults)
  const cell = parseCell(
    readFrom({ name: 'PAYBELL_CELL', about: '' }, faults) ?? String(FIRST_CELL),
  )
  if (cell === undefined) faults.push(`PAYBELL_CELL must be a whole number from 0 to ${CELL_MAX}.`)
  if (url === undefined || cell === undefined || faults.length > 0) {
    throw new UsageError(faults[0] ?? 'set DATABASE_URL to the database to verify.')
  }
  return addressOfCell(url, cell)
}
