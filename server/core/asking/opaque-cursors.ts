// Cursors of lists that can grow without end: where the last item stood, as opaque text. A cursor that
// we did not make is the caller's mistake, never an error of ours.

import { ServiceError } from '../plain/errors.ts'
import { countInvalid } from '../plain/invalid-count.ts'

export const CURSOR_LIMIT_DEFAULT = 50
export const CURSOR_LIMIT_MAX = 200

/** One page of such a list; `next` is null at the end. */
export interface CursorPage<T> {
  items: readonly T[]
  next: string | null
}

export function toCursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The parts of a cursor, each matched against its pattern. */
export function parseCursor(text: string, ...patterns: readonly RegExp[]): string[] {
  const parts = decode(text)
  const conforms =
    Array.isArray(parts) &&
    parts.length === patterns.length &&
    parts.every((part) => typeof part === 'string' || typeof part === 'number') &&
    patterns.every((pattern, index) => pattern.test(String(parts[index])))
  if (!conforms) throw refuseCursor()
  return parts.map(String)
}

export function refuseCursor(): ServiceError {
  return new ServiceError('invalid-query', countInvalid(1, 'parameter', ' of the query'), {
    errors: [
      {
        pointer: '/after',
        code: 'invalid-cursor',
        detail: 'Give back the value of `next` from the previous page, unchanged.',
      },
    ],
  })
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return null
  }
}

/** Cuts one more row than was asked for into a page. */
export function toCursorPage<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): CursorPage<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
