// Checks an export as it comes, a line at a time: in as much memory as one segment needs. Lines end with a newline and
// with nothing else: texts in them may have other characters that some readers take for the end of a line.

import type { AuditChecker } from '../../server/core/proofs/audit-check.ts'
import type { AuditResult, Finding } from '../../server/core/proofs/audit-finding.ts'
import { LINE_BYTES_MAX, parseAuditLine } from '../../server/core/proofs/audit-line.ts'
import { type InputLine, readLines } from '../import/lines.ts'

/** `isWhole`: what a service exports without a period, from the first segment to the head. */
export async function checkLines(
  checker: AuditChecker,
  input: AsyncIterable<Uint8Array>,
  { isWhole }: { isWhole: boolean },
): Promise<AuditResult> {
  const result = (finding: Finding | null) => ({ finding, checked: checker.checked })
  for await (const line of readLines(input, { line: 0, offset: 0 }, LINE_BYTES_MAX)) {
    const finding = checkLine(checker, line) ?? (isWhole ? checker.checkBeginning() : null)
    if (finding !== null) return result(finding)
  }
  return result(checker.end() ?? (isWhole ? null : findNothing(checker)))
}

function checkLine(checker: AuditChecker, { number, bytes }: InputLine): Finding | null {
  const line = bytes === null ? null : parseAuditLine(Buffer.from(bytes).toString())
  if (line?.kind === 'row') return checker.row(line.row)
  if (line?.kind === 'segment') return checker.segment(line.segment)
  if (line?.kind === 'drop') return checker.drop(line.drop)
  const segment = (checker.checked.last ?? 0) + 1
  const detail = `Line ${number} is not as a service writes it: it was altered or cut off, or this is not an export of the audit.`
  return { code: 'line-changed', segment, row: null, detail }
}

/** A service may have nothing to export yet; a file that says nothing proves nothing. */
function findNothing({ checked }: AuditChecker): Finding | null {
  if (checked.segments > 0) return null
  const detail = 'The file has no segment: nothing in it is sealed.'
  return { code: 'nothing-sealed', segment: 1, row: null, detail }
}
