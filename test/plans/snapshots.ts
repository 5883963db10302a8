// The statements of the store as a reader can paste them into psql, each with its plans: what the test
// compares with. `npm run plans` rewrites them.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { renderPlan } from './plan.ts'
import { pathOf } from './recorder.ts'
import { type Explained, STATES, type StatePlan } from './states.ts'

const FOLDER = fileURLToPath(new URL('./snapshots/', import.meta.url))

/** Plans are those of the PostgreSQL that comes with Paybell. */
export const SNAPSHOT_VERSION = 18

/** Locks are those of a cell. */
const ofCell = (all: readonly Explained[]) =>
  all.some(({ text }) => text.includes('paybell.cell')) ? ' set paybell.cell = 0;' : ''

const head = (
  file: string,
  all: readonly Explained[],
) => `-- The statements of server/store/${pathOf(file)} and their plans, without costs. Written by \`npm run plans\`;
-- a test compares them with what PostgreSQL ${SNAPSHOT_VERSION} plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;${ofCell(all)}
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);
`

/** By file name. */
export function renderSnapshots(statements: readonly Explained[]): ReadonlyMap<string, string> {
  const byFile = Map.groupBy(statements, ({ file }) => file)
  return new Map(
    [...byFile].map(([file, all]) => [
      file.replace(/\.ts$/, '.sql'),
      [head(file, all), ...all.toSorted(byName).map(renderStatement)].join('\n'),
    ]),
  )
}

function byName(one: Explained, other: Explained): number {
  return one.name < other.name ? -1 : 1
}

function renderStatement(statement: Explained): string {
  const { name, preparedAs, isHot, isLifted, parameterTypes, text } = statement
  const marks = [
    preparedAs === null ? 'planned each time' : `kept as ${preparedAs}`,
    ...(isHot ? ['hot path'] : []),
    ...(isLifted ? ['with enable_seqscan = on'] : []),
  ]
  const types = parameterTypes.length > 0 ? ` (${parameterTypes.join(', ')})` : ''
  return `-- ${name}: ${marks.join(', ')}
prepare "${name}"${types} as
${indent(text)};
${renderPlans(statement.plans)}
`
}

/** Lines of a template, indented by the brackets that they stand in. */
function indent(text: string): string {
  let depth = 1
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const bare = line.trim()
      const counted = bare.replace(/--.*$|'[^']*'/g, '')
      const closes = /^\)+/.exec(counted)?.[0].length ?? 0
      const indented = `${'  '.repeat(Math.max(1, depth - closes))}${bare}`
      depth += counted.split('(').length - counted.split(')').length
      return indented
    })
    .join('\n')
}

function renderPlans(plans: readonly StatePlan[]): string {
  const alike = Map.groupBy(plans, ({ plan }) => renderPlan(plan).join('\n--     '))
  return [...alike]
    .map(
      ([text, of]) =>
        `--   ${of.length === plans.length ? 'always' : describe(of)}\n--     ${text}`,
    )
    .join('\n')
}

function describe(plans: readonly StatePlan[]): string {
  const of = (values: StatePlan['values']) =>
    STATES.filter((state) => plans.some((plan) => plan.values === values && plan.state === state))
  const parts = [
    ['for any values', of('any')],
    ['for values given', of('given')],
  ] as const
  return parts
    .flatMap(([label, states]) => (states.length > 0 ? [`${label}: ${states.join('; ')}`] : []))
    .join('\n--   ')
}

export async function readSnapshots(): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(FOLDER).catch(() => [])
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(FOLDER + file, 'utf8')] as const),
  )
  return new Map(texts)
}

export async function writeSnapshots(snapshots: ReadonlyMap<string, string>): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER)
  for (const [file, text] of snapshots) await writeFile(FOLDER + file, text)
}
