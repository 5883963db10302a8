// A plan of PostgreSQL, cut down to its shape: kinds of nodes, indexes and the columns that conditions are
// about. Costs, times and values are left out. Printed, partitions of one shape are one line.

import type { Db } from '../../server/store/connection/db.ts'

export interface PlanNode {
  /** As EXPLAIN calls it: 'Index Scan', 'Nested Loop' … */
  type: string
  /** 'CTE mine', 'SubPlan 2' … where it has a name. */
  role: string | null
  relation: string | null
  index: string | null
  /** What it reads instead of a table: a CTE or a function. */
  source: string | null
  joinType: string | null
  operation: string | null
  /** Columns of its own relation that lead through the index, and those that rows are held to after. */
  indexColumns: readonly string[]
  filterColumns: readonly string[]
  hasJoinFilter: boolean
  sortKey: readonly string[]
  /** How many the planner expects. */
  rows: number
  /** Its relation holds nothing: to read all of that costs nothing. */
  isOfEmpty: boolean
  /** A condition is about the first column of its index, or the index is a partial one: all of it is few rows. */
  isLed: boolean
  children: readonly PlanNode[]
}

interface RawNode {
  'Node Type': string
  'Subplan Name'?: string
  'Relation Name'?: string
  'Index Name'?: string
  'CTE Name'?: string
  'Function Name'?: string
  'Join Type'?: string
  Operation?: string
  Alias?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  'Hash Cond'?: string
  'Merge Cond'?: string
  'TID Cond'?: string
  Filter?: string
  'Join Filter'?: string
  'Sort Key'?: string[]
  'Plan Rows': number
  Plans?: RawNode[]
}

/** What conditions and names are read by: the columns of every table, and of which index each is a part. */
export interface Catalog {
  columns: ReadonlyMap<string, ReadonlySet<string>>
  wholeIndexes: ReadonlyMap<string, string>
  /** The first column of each index; null for an expression, and for a summary, in which any column leads. */
  firstColumns: ReadonlyMap<string, string | null>
  partialIndexes: ReadonlySet<string>
  emptyRelations: ReadonlySet<string>
}

export async function readCatalog(db: Db): Promise<Catalog> {
  const columns = await db.query<{ relation: string; columns: string[] }>(
    `select c.relname as relation, array_agg(a.attname::text) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'paybell'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0
     group by c.relname`,
  )
  const parts = await db.query<{ part: string; whole: string }>(
    `select c.relname as part, p.relname as whole from pg_inherits i
     join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'i'`,
  )
  const indexes = await db.query<{
    name: string
    first: string | null
    is_partial: boolean | null
  }>(
    `select c.relname as name, a.attname as first,
       -- All that were not deleted are not few.
       pg_get_expr(i.indpred, i.indrelid) <> '(deleted_at IS NULL)' as is_partial
     from pg_index i join pg_class c on c.oid = i.indexrelid
     join pg_am m on m.oid = c.relam
     left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
       and m.amname <> 'brin'
     where c.relnamespace = 'paybell'::regnamespace`,
  )
  const empty = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'paybell'::regnamespace
     and relkind = 'r' and pg_relation_size(oid) = 0`,
  )
  return {
    columns: new Map(columns.rows.map((row) => [row.relation, new Set(row.columns)])),
    wholeIndexes: new Map(parts.rows.map(({ part, whole }) => [part, whole])),
    firstColumns: new Map(indexes.rows.map(({ name, first }) => [name, first])),
    partialIndexes: new Set(indexes.rows.flatMap((row) => (row.is_partial ? row.name : []))),
    emptyRelations: new Set(empty.rows.map(({ name }) => name)),
  }
}

export function toPlan(explained: unknown, catalog: Catalog): PlanNode {
  const [{ Plan: root }] = explained as [{ Plan: RawNode }]
  return withoutSystem(toNode(root, catalog), catalog)
}

/** What is read of PostgreSQL's own tables, whose statistics are none of ours, is one node. */
function withoutSystem(node: PlanNode, { columns }: Pick<Catalog, 'columns'>): PlanNode {
  const known = new Set([...columns.keys()].map(withoutDay))
  const relations = [...nodesOf(node)].flatMap(({ relation }) => relation ?? [])
  const isSystem = relations.length > 0 && !relations.some((relation) => known.has(relation))
  if (isSystem) return { ...NOTHING, type: 'System catalogs', role: node.role }
  return { ...node, children: node.children.map((child) => withoutSystem(child, { columns })) }
}

const NOTHING: Omit<PlanNode, 'type' | 'role'> = {
  relation: null,
  index: null,
  source: null,
  joinType: null,
  operation: null,
  indexColumns: [],
  filterColumns: [],
  hasJoinFilter: false,
  sortKey: [],
  rows: 0,
  isOfEmpty: true,
  isLed: false,
  children: [],
}

/** A default partition is a day like any other. */
function withoutDay(relation: string): string {
  return relation.replace(/_(\d{4}_\d\d_\d\d|default)$/, '_<day>')
}

/** `above`: what a bitmap is made for, whose own nodes do not say it. */
function toNode(raw: RawNode, catalog: Catalog, above: RawNode = raw): PlanNode {
  const scan = raw['Node Type'].startsWith('Bitmap') ? { ...above, ...raw } : raw
  const relation = scan['Relation Name'] ?? null
  const index = raw['Index Name'] ?? null
  const own = relation === null ? undefined : catalog.columns.get(relation)
  const find = (condition: string | undefined) => findColumns(condition ?? '', scan.Alias, own)
  const indexColumns = find(raw['Index Cond'] ?? raw['TID Cond'])
  return {
    type: raw['Node Type'],
    role: raw['Subplan Name'] ?? null,
    relation: relation === null ? null : withoutDay(relation),
    index: index === null ? null : (catalog.wholeIndexes.get(index) ?? index),
    source: raw['CTE Name'] ?? raw['Function Name'] ?? null,
    joinType: raw['Join Type'] ?? null,
    operation: raw.Operation ?? null,
    indexColumns,
    filterColumns: find(raw.Filter),
    hasJoinFilter: raw['Join Filter'] !== undefined,
    sortKey: raw['Sort Key'] ?? [],
    rows: raw['Plan Rows'],
    isOfEmpty: relation !== null && catalog.emptyRelations.has(relation),
    isLed: index !== null && isLed(index, indexColumns, catalog),
    children: (raw.Plans ?? []).map((child) => toNode(child, catalog, scan)),
  }
}

function isLed(index: string, columns: readonly string[], catalog: Catalog): boolean {
  const first = catalog.firstColumns.get(index) ?? null
  const isNamed = first === null ? columns.length > 0 : columns.includes(first)
  return isNamed || catalog.partialIndexes.has(index)
}

/** Names of the relation's own columns that a condition is about, in order, each once. */
function findColumns(
  condition: string,
  alias: string | undefined,
  own: ReadonlySet<string> | undefined,
): readonly string[] {
  const words = condition
    .replace(/'(?:[^']|'')*'/g, '')
    .replace(/::(?:"?\w+"?\.)?[\w ]+?(?:\[\])?(?=[\s),\]]|$)/g, '')
  const found = new Set<string>()
  for (const [, of, name = ''] of words.matchAll(/(?:\b(\w+)\.)?\b([a-z_]\w*)\b(?!\()/g)) {
    if (of !== undefined && of !== alias) continue
    if (own === undefined || own.has(name)) found.add(name)
  }
  return own === undefined ? [] : [...found]
}

/** A node and all that lie under it. */
export function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node
  for (const child of node.children) yield* nodesOf(child)
}

/** One line for each node, indented. */
export function renderPlan(node: PlanNode, depth = 0): readonly string[] {
  const lines = [`${'  '.repeat(depth)}${describe(node)}`]
  let before = ''
  let count = 0
  const flush = () => {
    if (count > 1) lines.push(`${'  '.repeat(depth + 1)}… ${count} alike`)
  }
  for (const child of node.children) {
    const rendered = renderPlan(child, depth + 1)
    const text = rendered.join('\n')
    if (text === before) {
      count++
      continue
    }
    flush()
    lines.push(...rendered)
    before = text
    count = 1
  }
  flush()
  return lines
}

function describe(node: PlanNode): string {
  const parts = [node.operation ?? node.type]
  if (node.joinType !== null && node.joinType !== 'Inner') parts.push(node.joinType.toLowerCase())
  if (node.relation !== null) parts.push(node.relation)
  if (node.source !== null) parts.push(node.source)
  if (node.index !== null) parts.push(`by ${node.index}`)
  if (node.indexColumns.length > 0) parts.push(`(${node.indexColumns.join(', ')})`)
  if (node.filterColumns.length > 0) parts.push(`filter (${node.filterColumns.join(', ')})`)
  if (node.hasJoinFilter) parts.push('with a join filter')
  if (node.sortKey.length > 0) parts.push(`on ${node.sortKey.join(', ')}`)
  return (node.role === null ? '' : `${node.role}: `) + parts.join(' ')
}
