// A statement of the store as a reader can paste it into psql, and its plans. Of many statements no file has the whole:
// `npm run plans` prints them, and a test that finds a fault.

import { renderPlan } from './plan.ts'
import type { Explained, SentStatement } from './states.ts'

/** What a session of the service has set. Locks are those of a cell. */
export const SESSION = `set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
set paybell.cell = 0;
`

export function renderStatement(statement: SentStatement): string {
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
