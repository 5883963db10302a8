// The schema as the database holds it, as text: what schema.sql is compared with. The embedded server
// has no pg_dump, and what matters here is not restoring but seeing a change in a review.
// Run by itself (`npm run schema`), it rewrites schema.sql and notes the hashes of new migrations; with `--check` it only says
// whether it would.

import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { isCheckOnly, writeChanged } from '../../packages/write-changed.ts'
import { newMigrations, noteNewMigrations } from './frozen-migrations.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from './test-server.ts'

export const SCHEMA_FILE = fileURLToPath(new URL('../../schema.sql', import.meta.url))

const SCHEMA = 'paybell'

const HEADER = `-- The schema that the migrations make. Written by \`npm run schema\`; a test compares it with a
-- freshly migrated database. Partitions that are made day by day are left out.
`

/** Partitions of single days carry their date at the end of their name. */
const DATED = '_\\d{4}_\\d{2}_\\d{2}'

export async function dumpSchema(client: pg.Client | pg.Pool): Promise<string> {
  const { rows: tables } = await client.query<{
    name: string
    oid: number
    kind: string
    options: string[] | null
    partition: string | null
    parent: string | null
    bound: string | null
  }>(
    `select c.relname as name, c.oid::int as oid, c.relkind as kind, c.reloptions as options,
       pg_get_partkeydef(c.oid) as partition,
       (select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid) as parent,
       pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_class c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p')
       and c.relname !~ $2 and c.relname <> 'migrations'
     order by c.relname`,
    [SCHEMA, DATED],
  )
  const parts: string[] = [HEADER]
  for (const table of tables) {
    if (table.parent !== null) {
      parts.push(`create table ${table.name} partition of ${table.parent} ${table.bound};\n`)
      continue
    }
    const lines = [...(await columns(client, table.oid)), ...(await constraints(client, table.oid))]
    const partition = table.partition ? ` partition by ${table.partition}` : ''
    const options = table.options ? ` with (${table.options.join(', ')})` : ''
    parts.push(`create table ${table.name} (\n  ${lines.join(',\n  ')}\n)${partition}${options};`)
    for (const index of await indexes(client, table.oid)) parts.push(`${index};`)
    for (const comment of await indexComments(client, table.oid)) parts.push(`${comment};`)
    parts.push('')
  }
  for (const view of await views(client)) parts.push(view)
  return parts.join('\n')
}

async function views(client: pg.Client | pg.Pool): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(
    `select 'create view ' || relname || coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '')
       || E' as\\n' || pg_get_viewdef(oid, true) || E'\\n' as text
     from pg_class where relnamespace = $1::regnamespace and relkind = 'v' order by relname`,
    [SCHEMA],
  )
  return rows.map((row) => row.text)
}

async function columns(client: pg.Client | pg.Pool, table: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attnotnull then ' not null' else '' end
       || case when a.attidentity = 'a' then ' generated always as identity' else '' end
       || case when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
               when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
       || case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end as line
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [table],
  )
  return rows.map((row) => row.line)
}

async function constraints(client: pg.Client | pg.Pool, table: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    // 'n' are the named NOT NULLs of PostgreSQL 18, already said at their columns.
    `select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line from pg_constraint
     where conrelid = $1 and contype <> 'n' order by contype desc, conname`,
    [table],
  )
  return rows.map((row) => row.line)
}

async function indexes(client: pg.Client | pg.Pool, table: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as line from pg_index
     where indrelid = $1 and not exists (select from pg_constraint where conindid = indexrelid)
     order by indexrelid::regclass::text`,
    [table],
  )
  return rows.map((row) => row.line.replaceAll(`${SCHEMA}.`, ''))
}

/** Who reads by an index, where that is said. */
async function indexComments(client: pg.Client | pg.Pool, table: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select format('comment on index %s is %L', c.relname, d.description) as line
     from pg_index i join pg_class c on c.oid = i.indexrelid
     join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass
     where i.indrelid = $1 order by c.relname`,
    [table],
  )
  return rows.map((row) => row.line)
}

if (import.meta.main) {
  const isCheck = isCheckOnly()
  const server = await startTestServer()
  try {
    const text = await onServer(databaseUrl(server.url, TEMPLATE), dumpSchema)
    writeChanged(SCHEMA_FILE, text, isCheck)
    const added = (await newMigrations()).map(([name]) => name).join(', ')
    if (added !== '' && isCheck) throw new Error(`migration-hashes.txt has no line for ${added}`)
    await noteNewMigrations()
    if (added !== '') console.log(`Frozen from now on: ${added}.`)
  } finally {
    await server.stop()
  }
}
