// A line of an export, strictly: one of a row, of a segment or of a drop, with its own members and no others, in the
// one spelling that the service writes. So a line cannot say one thing to one reader and another to the next.

import { toCanonicalJson } from '../plain/canonical-json.ts'
import type { ListedSegment, SealedRow } from './audit-seal.ts'
import { toRowText } from './audit-seal.ts'

export type AuditLine =
  | { kind: 'row'; row: SealedRow }
  | { kind: 'segment'; segment: ListedSegment }
  | { kind: 'drop'; drop: string }

/** The longest that is written: a segment of 80,000 rows and more, where one transaction has written so many. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024

type Members = Readonly<Record<string, 'string' | 'number'>>

const ROW: Members = {
  ...{ id: 'string', at: 'string', actor: 'string', action: 'string', object: 'string' },
  ...{ requestId: 'string', position: 'string' },
}
const SEGMENT: Members = {
  ...{ segment: 'number', from: 'string', to: 'string', count: 'number', digest: 'string' },
  ...{ previous: 'string', sealedAt: 'string', jws: 'string' },
}
const DROP: Members = { drop: 'string' }

/** Null: the service has not written this line. */
export function parseAuditLine(text: string): AuditLine | null {
  const item = parseObject(text)
  if (item === null) return null
  const line = toLine(item)
  return line !== null && textOf(line, item) === text ? line : null
}

function toLine(item: Readonly<Record<string, unknown>>): AuditLine | null {
  if (hasMembers(item, DROP)) return { kind: 'drop', drop: item.drop as string }
  if (hasMembers(item, SEGMENT, 'rows')) {
    if (item.rows !== undefined && typeof item.rows !== 'string') return null
    return { kind: 'segment', segment: item as unknown as ListedSegment }
  }
  if (hasMembers(item, ROW, 'changes')) return { kind: 'row', row: item as unknown as SealedRow }
  return null
}

function textOf(line: AuditLine, item: object): string {
  return line.kind === 'row' ? toRowText(line.row) : toCanonicalJson(item)
}

function hasMembers(
  item: Readonly<Record<string, unknown>>,
  members: Members,
  optional?: string,
): boolean {
  const names = Object.keys(item).filter((name) => name !== optional)
  return (
    names.length === Object.keys(members).length &&
    names.every((name) => Object.hasOwn(members, name) && typeof item[name] === members[name])
  )
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
