// An audit with seals, for tests: rows, and sealing without waiting for the minute.

import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { Pool } from 'pg'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { DROP_TYPE, type DropClaims, type Segment } from '../../server/core/proofs/audit-seal.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { insertAudit, insertAuditWithChanges } from '../../server/store/proofs/audit-table.ts'
import { cloneDatabase } from './database.ts'
import { serveHttp, type TestServer } from './injected-server.ts'
import { until } from './paybell.ts'

export interface SealedAudit extends TestServer {
  pool: Pool
  /** Adds a row that says what it was done to; one whose name ends in ! says what it changed, too. */
  audit(object: string): Promise<void>
  /** Seals what is there: in one segment, unless `rowsMax` says otherwise. */
  seal(rowsMax?: number): Promise<void>
}

export async function startSealedAudit(
  t: Pick<TestContext, 'after'>,
  options: { drop?: boolean } = {},
): Promise<SealedAudit> {
  const { pool, drop } = await cloneDatabase()
  if (options.drop) t.after(drop)
  const server = await serveHttp(t, pool)
  const toEntry = (object: string) => ({
    actor: 'operator',
    action: 'client.create',
    object,
    requestId: randomUUID(),
    at: new Date(server.clock.nowMs()),
  })
  return Object.assign(server, {
    pool,
    async audit(object: string) {
      const changes = [{ field: 'name', before: null, after: `Größe "${object}"\n ` }]
      if (object.endsWith('!')) await insertAuditWithChanges(pool, { ...toEntry(object), changes })
      else await insertAudit(pool, toEntry(object))
    },
    seal: (rowsMax?: number) => sealAll(server, pool, rowsMax),
  })
}

/** A transaction elsewhere in the cluster may hold rows back for a moment, and split a segment: it is waited for. */
export async function nothingIsHeldBack(pool: Pool): Promise<void> {
  await until('nothing is held back', async () => {
    const { rows } = await pool.query(
      `select from audit, feed_origin o where place >= feed_horizon(o.shift, o.timeline) limit 1`,
    )
    return rows.length === 0
  })
}

async function sealAll(server: TestServer, pool: Pool, rowsMax?: number): Promise<void> {
  await nothingIsHeldBack(pool)
  await until('all is sealed', async () => {
    await sealAudit(server.deps, { everyMsMin: 0, ...(rowsMax ? { rowsMax } : {}) })
    const { rows } = await pool.query(
      `select from audit
       where place >= coalesce((select max(to_place) from audit_segments), 1) limit 1`,
    )
    return rows.length === 0
  })
}

/** Statements after the guards are gone. Whoever owns the tables can do this. */
export async function asOwner(pool: Pool, ...statements: string[]): Promise<void> {
  const { rows } = await pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass
     union all select 'audit' union all select 'audit_segments'`,
  )
  const guards = rows.map(({ name }) => `alter table ${name} disable trigger user`)
  await pool.query([...guards, ...statements].join(';'))
}

/** A drop through this segment as the service would sign it when it is old enough. */
export function signDrop(
  { deps }: Pick<SealedAudit, 'deps'>,
  { segment, digest, sealedAt }: Segment,
  claims: Partial<DropClaims> = {},
): Promise<string> {
  const droppedAt = new Date(Date.parse(sealedAt) + 31 * DAY_MS).toISOString()
  const drop = { through: segment, digest, sealedAt, head: segment, retentionDays: 30, droppedAt }
  return deps.webhookKeys.signStatement(DROP_TYPE, { ...drop, ...claims })
}
