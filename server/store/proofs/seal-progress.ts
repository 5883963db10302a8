// How far sealing has come, and what an operator's last verification has found: one row.

import type { Verdict } from '../../core/proofs/audit-finding.ts'
import type { Db } from '../connection/db.ts'

export interface SealProgress {
  /** Everything that was audited before this instant is sealed; null: nothing has been looked at yet. */
  sealedThrough: Date | null
  /** When the head was last in a notice. */
  headToldAt: Date | null
  verification: Verification | null
}

export interface Verification {
  at: Date
  from: number
  to: number
  verdict: Verdict
  /** In JSON; null: there is none. */
  finding: string | null
}

/** Everything audited before `through` is sealed. */
export async function saveSealedThrough(db: Db, through: Date): Promise<void> {
  await db.query({
    name: 'save-sealed-through',
    text: 'update audit_seal_progress set sealed_through = $1',
    values: [through],
  })
}

export async function readSealProgress(db: Db): Promise<SealProgress> {
  const { rows } = await db.query<{
    sealed_through: Date | number
    head_told_at: Date | number
    verified_at: Date | null
    verified_from: number | null
    verified_to: number | null
    verdict: Verdict | null
    finding: string | null
  }>({
    name: 'read-seal-progress',
    text: `select sealed_through, head_told_at, verified_at, verified_from, verified_to, verdict, finding
           from audit_seal_progress`,
  })
  const [row] = rows
  if (row === undefined) throw new Error('audit_seal_progress has no row')
  return {
    sealedThrough: toDate(row.sealed_through),
    headToldAt: toDate(row.head_told_at),
    verification:
      row.verified_at === null || row.verdict === null
        ? null
        : {
            at: row.verified_at,
            from: row.verified_from ?? 1,
            to: row.verified_to ?? 0,
            // A process of the version before may have written the finding, and no verdict.
            verdict: row.finding === null ? row.verdict : 'invalid',
            finding: row.finding,
          },
  }
}

/** The driver reads -infinity as a number. */
function toDate(value: Date | number): Date | null {
  return value instanceof Date ? value : null
}

export async function saveVerification(db: Db, verification: Verification): Promise<void> {
  await db.query({
    name: 'save-verification',
    text: `update audit_seal_progress
           set verified_at = $1, verified_from = $2, verified_to = $3, verdict = $4, finding = $5`,
    values: [
      verification.at,
      verification.from,
      verification.to,
      verification.verdict,
      verification.finding,
    ],
  })
}

export async function saveHeadTold(db: Db, now: Date): Promise<void> {
  await db.query({
    name: 'save-head-told',
    text: 'update audit_seal_progress set head_told_at = $1',
    values: [now],
  })
}
