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

/** Bytes, as bytea[]. */
export function bytesColumn<R>(rows: readonly R[], read: (row: R) => Uint8Array | null): string {
  return plainColumn(rows, (row) => {
    const bytes = read(row)
    if (bytes === null) return null
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
    return `"\\\\x${hex}"`
  })
}

/** Any text, as one JSON array: to be read with `json_array_elements_text`, in order. */
export function textColumn<R>(rows: readonly R[], read: (row: R) => string): string {
  return JSON.stringify(rows.map(read))
}
