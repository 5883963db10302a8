// A whole run takes an hour. In parts it can be spread over quiet moments: the table of deliveries comes whole
// from one part, because its ratios hold within one run only; scenarios each bring their own baseline along, and
// come from wherever they were measured. One part alone is written again, with what reading.md says now.

import { readFile } from 'node:fs/promises'
import type { RunReport } from './results-file.ts'

export async function joinReports(files: readonly string[]): Promise<RunReport> {
  const parts = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as RunReport),
  )
  const main = parts.find((part) => part.rows.length > 0)
  if (main === undefined) throw new Error('none of the parts has a table of deliveries')
  const scenarios = new Map(
    parts.flatMap((part) => part.scenarios).map((scenario) => [scenario.name, scenario]),
  )
  return {
    ...main,
    floors: parts.find((part) => part.floors !== null)?.floors ?? null,
    scenarios: [...scenarios.values()].toSorted((a, b) => (a.target ?? 99) - (b.target ?? 99)),
    notes: [
      ...new Set(parts.flatMap((part) => part.notes)),
      ...(parts.length > 1 ? [joinedNote(parts)] : []),
    ],
  }
}

function joinedNote(parts: readonly RunReport[]): string {
  return `Joined from ${parts.length} parts, measured from ${parts[0]?.date} to ${parts.at(-1)?.date}.`
}
