// What the slow tests take of more than one landing can run: drawn by the commit, so that each landing proves another part,
// and all of it is proven over the landings. The same commit draws the same; PAYBELL_TEST_SAMPLE draws again what another
// commit drew. `npm run test:release` runs the whole.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const GIVEN = 'PAYBELL_TEST_SAMPLE'
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export function sampleName(): string {
  return process.env[GIVEN] || commitOf(ROOT)
}

/** Without a repository, such as in an archive, always the same. One that cannot be read would draw the same for ever, unseen. */
export function commitOf(root: string, env: NodeJS.ProcessEnv = process.env): string {
  if (!existsSync(join(root, '.git'))) return 'archive'
  // A clone may belong to another user, as in a container: nothing of it is run here, only its HEAD read.
  const args = ['-c', 'safe.directory=*', 'rev-parse', '--short=12', 'HEAD']
  try {
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: [...stdio] }).trim()
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const how = `Make \`git rev-parse HEAD\` work there, or set ${GIVEN} to any name.`
    throw new Error(`The commit of ${root} draws what is run. ${how}\n${stderr || message}`)
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
