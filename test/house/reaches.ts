// What a file of code reaches for beyond what it is given, read from its syntax tree: a clock, dice, a timer, the network, a
// module that no import names. And the clocks of the database in its SQL.

import { parseFile, type SyntaxNode, walk } from '../simulator/syntax.ts'

/** Names of the process, each a way out of a file that imports nothing. */
const OF_PROCESS = new Set([
  ...['process', 'globalThis', 'global', 'self', 'require', 'module', 'eval', 'Function'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'performance', 'crypto', 'Worker'],
  ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'navigator', 'BroadcastChannel'],
])
/** What is pure of those that are not: all but these is refused, so that no other name for one is. */
const PURE_OF_DATE = new Set(['UTC', 'parse'])
const IMPURE_OF_MATH = 'random'
/** Of node:crypto: what draws. */
const DRAWS = /^(?:random|generate|getRandom|webcrypto|subtle)/

/** What rules may not reach for, as it stands in the code. */
export function reachesOf(code: string): readonly string[] {
  const reaches: string[] = []
  for (const { node, around } of walk(parseFile(code))) {
    const outer = around[0]
    const reach = reachOfImport(node) ?? (outer && isReference(node, outer) && reachOf(node, outer))
    if (reach) reaches.push(reach)
  }
  return reaches
}

/** Where a file reads the clock of the machine by the name `Date`. */
export function datesOf(code: string): readonly string[] {
  return reachesOf(code).filter((reach) => reach.startsWith('Date'))
}

function reachOfImport({ type, source, specifiers, exported }: SyntaxNode): string | null {
  if (type === 'ImportExpression') return 'import()'
  const from = (source as SyntaxNode | null | undefined)?.value
  if (typeof from !== 'string') return null
  if (from.startsWith('.')) return from.endsWith('.ts') ? null : from
  if (from !== 'node:crypto') return null
  if (type === 'ExportAllDeclaration') return `* of ${from}${exported ? ' by a name' : ''}`
  const drawn = (specifiers as readonly SyntaxNode[]).map(nameOfImport)
  return drawn.find((name) => name === '*' || DRAWS.test(name)) ?? null
}

/** `*` where it is the whole module. */
function nameOfImport({ imported, local, type }: SyntaxNode): string {
  const name = (imported ?? (type === 'ExportSpecifier' ? local : null)) as SyntaxNode | null
  return name === null ? '*' : String(name.name ?? name.value)
}

/** Not the name of a member or of a type. */
function isReference(node: SyntaxNode, outer: SyntaxNode): boolean {
  if (node.type !== 'Identifier') return false
  if (outer.type === 'MemberExpression' && outer.property === node) return outer.computed === true
  if (outer.key === node && outer.computed !== true && outer.value !== node) return false
  return !outer.type.startsWith('TS') || outer.expression === node
}

function reachOf({ name }: SyntaxNode, outer: SyntaxNode): string | null {
  if (name === 'Date') return reachOfDate(outer)
  if (name === 'Math') {
    const member = memberOf(outer)
    return member === null || member === IMPURE_OF_MATH ? `Math.${member ?? '?'}` : null
  }
  return OF_PROCESS.has(name as string) ? (name as string) : null
}

function reachOfDate(outer: SyntaxNode): string | null {
  if (outer.type === 'NewExpression') {
    return (outer.arguments as readonly unknown[]).length > 0 ? null : 'Date()'
  }
  if (outer.type === 'BinaryExpression' && outer.operator === 'instanceof') return null
  const member = memberOf(outer)
  return member !== null && PURE_OF_DATE.has(member) ? null : `Date.${member ?? '?'}`
}

/** Null where no name says which. */
function memberOf({ type, computed, property }: SyntaxNode): string | null {
  return type === 'MemberExpression' && !computed ? String((property as SyntaxNode).name) : null
}

const CLOCK_OF_DATABASE =
  /\b(?:(?:clock|statement|transaction|current)_timestamp|current_(?:date|time)|localtime(?:stamp)?)\b|\btimeofday\(|(?<![\w.#])now\(\)/i
const SQL_COMMENT = /--.*|\/\*[\s\S]*?\*\//g

/** Clocks of the database in its texts, which may be SQL. */
export function databaseClocksOf(code: string): readonly string[] {
  return [...walk(parseFile(code))].flatMap(({ node }) => {
    const [clock] = CLOCK_OF_DATABASE.exec(textOf(node).replaceAll(SQL_COMMENT, '')) ?? []
    return clock === undefined ? [] : [clock]
  })
}

function textOf({ type, value }: SyntaxNode): string {
  if (type === 'TemplateElement') return (value as { raw: string }).raw
  return type === 'Literal' && typeof value === 'string' ? value : ''
}
