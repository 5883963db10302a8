// Headers as callers have them: a Headers object, Node's, or any plain object in any spelling.

/** What the SDK needs of a Headers. */
export interface HeadersObject {
  get(name: string): string | null
  forEach(each: (value: string, name: string) => void): void
}

export type HeadersLike =
  | HeadersObject
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The value, without white space around it; undefined when it is not there or empty. */
export function readHeader(headers: HeadersLike, name: string): string | undefined {
  const value = isHeaders(headers) ? headers.get(name) : findIn(headers, name)
  return value?.trim() || undefined
}

export function toPlainHeaders(headers: HeadersLike): Record<string, string> {
  const plain: Record<string, string> = {}
  if (isHeaders(headers)) {
    headers.forEach((value, name) => {
      plain[name] = value
    })
    return plain
  }
  for (const name of Object.keys(headers)) plain[name.toLowerCase()] = findIn(headers, name) ?? ''
  return plain
}

function isHeaders(headers: HeadersLike): headers is HeadersObject {
  return typeof headers.get === 'function'
}

function findIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | undefined {
  const wanted = name.toLowerCase()
  // All spellings together: names that differ only in case are one header.
  const values = Object.keys(headers)
    .filter((key) => key.toLowerCase() === wanted)
    .flatMap((key) => headers[key] ?? [])
  return values.length === 0 ? undefined : values.join(', ')
}
