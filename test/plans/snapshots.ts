// The statements that the store puts together, as a reader can paste them into psql: no file has them whole. `npm run
// plans` writes them, and a test compares. Of statements that differ in their conditions alone one stands for all.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { renderPlan } from './plan.ts'
import { pathOf, sourceOf } from './recorder.ts'
import { type Explained, functionOf } from './states.ts'

const FOLDER = fileURLToPath(new URL('./snapshots/', import.meta.url))

/** Locks are those of a cell. */
const ofCell = (all: readonly Explained[]) =>
  all.some(({ text }) => text.includes('paybell.cell')) ? ' set paybell.cell = 0;' : ''

const head = (
  file: string,
  all: readonly Explained[],
) => `-- What server/store/${pathOf(file)} puts together, written by \`npm run plans\`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;${ofCell(all)}
`

/** By file name. */
export function renderSnapshots(statements: readonly Explained[]): ReadonlyMap<string, string> {
  const byFile = Map.groupBy(statements.filter(isPutTogether), ({ file }) => file)
  return new Map(
    [...byFile].map(([file, all]) => {
      const shapes = Map.groupBy(all.toSorted(byName), shapeOf)
      const rendered = [...shapes.values()].map(renderShape)
      return [file.replace(/\.ts$/, '.sql'), [head(file, all), ...rendered].join('\n')]
    }),
  )
}

/** Whole is what stands between two quotes of one kind. */
function isPutTogether({ file, text }: Explained): boolean {
  const source = inOneLine(sourceOf(file)).replaceAll(/ ?(['`]) ?/g, '$1')
  const bare = inOneLine(text).replaceAll(/ ?(['`]) ?/g, '$1')
  return !['`', "'"].some((quote) => source.includes(`${quote}${bare}${quote}`))
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

function byName(one: Explained, other: Explained): number {
  return one.name < other.name ? -1 : 1
}

/** The function that sends it, and what it reads and writes, in order. */
function shapeOf({ name, text }: Explained): string {
  const tables = text.matchAll(/\b(?:from|join|into|update|using) (\w+)/g)
  return [functionOf(name), ...tables.map(([part]) => part)].join(' ')
}

function renderShape(alike: readonly Explained[]): string {
  const [statement, ...others] = alike as [Explained, ...Explained[]]
  if (others.length === 0) return renderStatement(statement)
  const names = others.map(({ name }) => name.slice(functionOf(name).length).trim())
  return `-- Alike: ${names.join('; ')}\n${renderStatement(statement)}`
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
`
}

/** As it is printed where a rule fails, or who asks for it. */
export function renderWithPlans(statement: Explained): string {
  const alike = Map.groupBy(statement.plans, ({ plan }) => renderPlan(plan).join('\n  '))
  const plans = [...alike].map(([text, of]) => {
    const states = of.map(({ state, values }) => `${state}, for ${values} values`)
    return `${states.join('\n')}\n  ${text}\n`
  })
  return [renderStatement(statement), ...plans].join('\n')
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
