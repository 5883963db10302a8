// What the slow tests take of more than one landing can run: drawn by the commit, so that each landing proves another part,
// and all of it is proven over the landings. The same commit draws the same; PAYBELL_TEST_SAMPLE draws again what another
// commit drew. `npm run test:release` runs the whole.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const GIVEN = 'PAYBELL_TEST_SAMPLE'
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Without git, such as in an archive, always the same. */
export function sampleName(): string {
  const given = process.env[GIVEN]
  if (given) return given
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'archive'
  }
}

/** What precedes a command to draw the same again. */
export function sampleVariable(sample: string): string {
  return `${GIVEN}=${sample}`
}

/** So many of all, in the order in which they stand. What is drawn of one list says nothing about another one. */
export function draw<T>(all: readonly T[], count: number, what: string, sample: string): T[] {
  const places = all.map((_, place) => place)
  const chosen = places.toSorted((a, b) => rank(sample, what, a) - rank(sample, what, b))
  const kept = new Set(chosen.slice(0, count))
  return all.filter((_, place) => kept.has(place))
}

/** From 0 to below the limit. */
export function drawNumber(limit: number, what: string, sample: string): number {
  return rank(sample, what, 0) % limit
}

function rank(sample: string, what: string, place: number): number {
  return createHash('sha256').update(`${sample} ${what} ${place}`).digest().readUIntBE(0, 6)
}
