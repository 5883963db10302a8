// Checks an export as it comes, a line at a time: in as much memory as one segment needs.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { AuditChecker, CheckedAudit, Finding } from '../server/core/audit-check.ts'
import type { ListedSegment, SealedRow } from '../server/core/audit-seal.ts'
import { UsageError } from './run.ts'

export interface AuditResult {
  finding: Finding | null
  checked: CheckedAudit
}

/** `isWhole`: from the first segment to the head, so what retention has dropped must be declared in it. */
export async function checkLines(
  checker: AuditChecker,
  input: Readable,
  { isWhole }: { isWhole: boolean },
): Promise<AuditResult> {
  const { checked } = checker
  let number = 0
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    if (line.trim() === '') continue
    const item = parseLine(line, number)
    if (!('segment' in item)) checker.row(item)
    else {
      const finding = checker.segment(item) ?? (isWhole ? checker.checkBeginning() : null)
      if (finding !== null) return { finding, checked }
    }
  }
  return { finding: checker.end() ?? (isWhole ? checker.checkDropped() : null), checked }
}

function parseLine(line: string, number: number): SealedRow | ListedSegment {
  try {
    const item = JSON.parse(line)
    if (typeof item === 'object' && item !== null) return item
  } catch {
    // Said below.
  }
  throw new UsageError(`line ${number} is no JSON object: this is not an export of the audit.`)
}
