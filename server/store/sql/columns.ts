// Column arrays for `unnest`, written as PostgreSQL's own array text. The driver would look at every
// element, quote it and escape it: for rows of twenty columns that took as long as signing a callback.

type Plain = string | number | boolean | null

/** Elements that need no quotes: numbers, uuids, instants, words of our own lists. */
export function plainColumn<R>(rows: readonly R[], read: (row: R) => Plain): string {
  let text = '{'
  for (let index = 0; index < rows.length; index++) {
    if (index > 0) text += ','
    text += read(rows[index] as R) ?? 'NULL'
  }
  return `${text}}`
}

/** Instants in milliseconds; the fraction of a millisecond is dropped, as everywhere. */
export function instantColumn<R>(rows: readonly R[], read: (row: R) => number | null): string {
  return plainColumn(rows, (row) => {
    const ms = read(row)
    return ms === null ? null : new Date(ms).toISOString()
  })
}

/** Short texts of any kind, as text[]. */
export function quotedColumn<R>(rows: readonly R[], read: (row: R) => string): string {
  return plainColumn(rows, (row) => `"${read(row).replace(/["\\]/g, '\\$&')}"`)
}

/** Bytes, as bytea[]. */
export function bytesColumn<R>(rows: readonly R[], read: (row: R) => Uint8Array | null): string {
  return plainColumn(rows, (row) => {
    const bytes = read(row)
    if (bytes === null) return null
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
    return `"\\\\x${hex}"`
  })
}

/**
 * Any text: the bytes of all of them as one binary parameter, and where each begins and how long it is,
 * to be cut out again with `textAt`. As a JSON array they had to be escaped here and parsed there.
 */
export function textColumn<R>(
  rows: readonly R[],
  read: (row: R) => string,
): { bytes: Buffer; starts: string; lengths: string } {
  let size = 0
  for (const row of rows) size += Buffer.byteLength(read(row))
  const bytes = Buffer.allocUnsafe(size)
  let starts = '{'
  let lengths = '{'
  let end = 0
  for (let index = 0; index < rows.length; index++) {
    const length = bytes.write(read(rows[index] as R), end)
    const comma = index > 0 ? ',' : ''
    // SQL counts from 1.
    starts += comma + (end + 1)
    lengths += comma + length
    end += length
  }
  return { bytes, starts: `${starts}}`, lengths: `${lengths}}` }
}

/** The text of a row whose place in `bytes` is in its columns `start` and `length`. */
export function textAt(bytes: string): string {
  return `convert_from(substring(${bytes}::bytea from start for length), 'UTF8')`
}
