// Whether PostgreSQL keeps one plan of a prepared statement. After five executions it compares: where a plan
// for the values given looks cheaper than one for any values, it plans each time, which takes longer than
// most of our statements. That happens where few rows are given and it can see how few.

import pg, { type PoolClient } from 'pg'
import type { Statement } from './recorder.ts'

/** One more than PostgreSQL plans for the values given before it compares. */
const EXECUTIONS = 6

/** Those that are planned each time when a single row is given. */
export async function findPlannedEachTime(
  client: PoolClient,
  statements: readonly Statement[],
): Promise<readonly string[]> {
  const names = new Map(statements.map((statement, index) => [`kept_${index}`, statement]))
  await client.query('set plan_cache_mode = auto')
  for (const [name, { text, values }] of names) {
    await client.query(`prepare ${name} as ${text}`)
    const given = await writeFirstRow(client, name, values)
    const execute = `explain execute ${name}${given && `(${given})`}`
    await client.query(Array(EXECUTIONS).fill(execute).join(';'))
  }
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_prepared_statements where name like 'kept%' and generic_plans = 0`,
  )
  return rows.flatMap(({ name }) => names.get(name)?.name ?? [])
}

/** The values as literals; of an array, which may be binary, PostgreSQL writes the first element. */
async function writeFirstRow(
  client: PoolClient,
  name: string,
  values: readonly unknown[],
): Promise<string> {
  if (values.length === 0) return ''
  const { rows: types } = await client.query<{ type: string }>(
    `select unnest(parameter_types)::text as type from pg_prepared_statements where name = $1`,
    [name],
  )
  const asText = types.map(({ type }, index) => {
    const value = `$${index + 1}::${type}`
    return `(${type.endsWith('[]') ? `(${value})[:1]` : value})::text`
  })
  const { rows } = await client.query<string[]>({
    text: `select ${asText.join(', ')}`,
    values: [...values],
    rowMode: 'array',
  })
  return (rows[0] ?? [])
    .map((literal) => (literal === null ? 'null' : pg.escapeLiteral(literal)))
    .join(', ')
}
