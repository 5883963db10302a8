// CSV as RFC 4180 has it: fields with commas, quotes and line breaks in quotes; blank lines are left out.

import { UsageError } from '../basics/run.ts'

export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const endRow = () => {
    row.push(field)
    if (row.length > 1 || field.trim() !== '') rows.push(row)
    row = []
    field = ''
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (isQuoted) {
      if (character !== '"') field += character
      else if (text[at + 1] === '"') field += text[++at]
      else isQuoted = false
    } else if (character === '"' && field === '') isQuoted = true
    else if (character === ',') {
      row.push(field)
      field = ''
    } else if (character === '\n') endRow()
    else if (character !== '\r' || text[at + 1] !== '\n') field += character
  }
  if (isQuoted) throw new UsageError('a quote of the file is never closed.')
  if (field !== '' || row.length > 0) endRow()
  return rows
}
