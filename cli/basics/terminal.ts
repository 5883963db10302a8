// How things look in a terminal: colours where a person sees them, tables that line up, times in UTC.
// Whatever comes from outside is shown without control characters: a name must not move the cursor.

export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Colours, or the same calls without them. */
export function paintFor(hasColour: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, code]) => [
    name,
    hasColour ? (text: string) => `\u001b[${code}m${text}\u001b[0m` : (text: string) => text,
  ])
  return Object.fromEntries(entries) as Paint
}

/** Control characters become visible, so that foreign text stays text. */
export function safe(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0)
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

export type Cell = string | number | boolean | null | undefined

export function cellText(cell: Cell): string {
  return cell === null || cell === undefined || cell === '' ? '-' : safe(String(cell))
}

export interface Column<T> {
  title: string
  of: (item: T) => Cell
  /** Numbers line up on the right. */
  right?: true
  /** In the colour of the state that it names. */
  isState?: true
}

export function formatTable<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  paint: Paint,
): string {
  const texts = items.map((item) => columns.map((column) => cellText(column.of(item))))
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...texts.map((row) => width(row[index] as string))),
  )
  const line = (cells: readonly string[], dress: (text: string, index: number) => string) =>
    cells
      .map((cell, index) => {
        const pad = ' '.repeat((widths[index] as number) - width(cell))
        const dressed = dress(cell, index)
        return columns[index]?.right ? pad + dressed : dressed + pad
      })
      .join('  ')
      .trimEnd()
  const titles = columns.map(({ title }) => title)
  return [
    line(titles, (text) => paint.bold(text)),
    ...texts.map((row) =>
      line(row, (text, index) => (columns[index]?.isState ? paintState(text, paint) : text)),
    ),
  ].join('\n')
}

/** `Name   value`, a line each, the values below each other. */
export function formatFields(fields: readonly (readonly [string, Cell])[], paint: Paint): string {
  const longest = Math.max(0, ...fields.map(([label]) => label.length))
  return fields
    .map(([label, value]) => `${paint.dim(label.padEnd(longest))}  ${cellText(value)}`)
    .join('\n')
}

function width(text: string): number {
  return [...text].length
}

/** `2026-11-15 05:47:57Z`: UTC, as all times of Paybell, and short enough for a table. */
export function formatTime(instant: string | Date | null | undefined): string | null {
  if (instant === null || instant === undefined) return null
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return String(instant)
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `6 d 3 h`: two units at most. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3_600), 'h'],
    [Math.floor((seconds % 3_600) / 60), 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 line`, `2 lines`. */
export function plural(count: number, word: string, words = `${word}s`): string {
  return `${formatCount(count)} ${count === 1 ? word : words}`
}

/** The colour of a delivery's state, an endpoint's status, an answer. */
export function paintState(state: string, paint: Paint): string {
  if (/^(DELIVERED|ACTIVE|PAID|ok|DONE|200)$/.test(state)) return paint.green(state)
  if (/^(PENDING|PAUSED|DUE|PENDING_APPROVAL|RUNNING|warning)$/.test(state))
    return paint.yellow(state)
  if (/^(EXHAUSTED|DISABLED|FAILED|failed|\d\d\d)$/.test(state)) return paint.red(state)
  return state
}
