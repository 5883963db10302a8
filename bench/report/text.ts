// Numbers and tables as text, for the terminal and for Markdown alike.

export function number(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

export function ratio(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : '–'
}

/** The first column to the left, the others to the right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells
      .map((cell, column) => {
        const width = widths[column] as number
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join(' | ')} |`
  const rule = `|${widths
    .map((width, column) =>
      column === 0 ? `${'-'.repeat(width + 1)}-` : `${'-'.repeat(width + 1)}:`,
    )
    .join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}
