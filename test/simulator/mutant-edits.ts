// The ways in which a mutant changes a named place in the service. Each has to find what it changes exactly once there, so
// that a mutant cannot quietly become the original. Code is given as patterns (code-pattern.ts), as short as is unique: a
// single name is one.

import { fillIn, findMatches, type Match } from './code-pattern.ts'
import { findSql } from './sql-tokens.ts'
import { enclose, holdsInList, isNode, parseSnippet, type SyntaxNode, walk } from './syntax.ts'

export interface Site {
  text: string
  program: SyntaxNode
  /** What the mutant has named: only here is anything looked for. */
  place: SyntaxNode
  /** The path from this file to the one that exports a name. */
  pathTo(name: string): string
}

/** What takes the place of a range of the text. */
export interface Splice {
  start: number
  end: number
  by: string
}

export type Edit = (site: Site) => Splice

/** What fits the pattern becomes this; names that it has captured may be in it. */
export function replace(pattern: string, by: string): Edit {
  return (site) => put(findOne(site, pattern), by)
}

/** The nth argument (from 1 on) of the call of this name becomes this; `_1` is what it was. */
export function setArgument(nth: number, name: string, by: string): Edit {
  return ({ place, text }) => {
    const calls = [...walk(place)].filter(({ node }) => isCallOf(node, name))
    const { node, around } = only(calls, `a call of ${name}`)
    const argument = (node.arguments as readonly SyntaxNode[])[nth - 1]
    if (argument === undefined) throw new Error(`${name} has no argument ${nth}`)
    const captured = new Map([['_1', enclose(argument, text.slice(argument.start, argument.end))]])
    return put({ node: argument, around: [node, ...around], captured }, by)
  }
}

/** The statement, or the element of a list, that has this in it is no longer there. */
export function drop(pattern: string): Edit {
  return (site) => {
    const { node, around } = findOneAround(site, pattern, isDroppable)
    const [outer] = around
    if (outer?.type === 'ArrayExpression') return withoutElement(outer, node)
    return { start: node.start, end: node.end, by: holdsInList(outer, node) ? '' : '{}' }
  }
}

/** The condition that has this in it always holds. */
export function forceTrue(pattern: string): Edit {
  return (site) => put(findOneAround(site, pattern, isCondition), 'true')
}

/** The condition that has this in it never holds. */
export function forceFalse(pattern: string): Edit {
  return (site) => put(findOneAround(site, pattern, isCondition), 'false')
}

/** These tokens of a text in SQL become others; how they are broken into lines does not matter. */
export function replaceSql(tokens: string, by: string): Edit {
  return ({ place, text }) => {
    const ranges = findSql(place, tokens, text)
    return { ...only(ranges, tokens), by }
  }
}

/** The file of the place imports this, from wherever it is. */
export function addImport(name: string): Edit {
  return ({ program, pathTo }) => {
    const start = (program.body as readonly SyntaxNode[])[0]?.start ?? 0
    return { start, end: start, by: `import { ${name} } from '${pathTo(name)}'\n` }
  }
}

function put({ node, around, captured }: Match, code: string): Splice {
  const by = fillIn(code, captured)
  const snippet = parseSnippet(by)
  const [outer, beyond] = around
  const isStatement = outer?.type === 'ExpressionStatement'
  if (isNode(snippet)) {
    return { start: node.start, end: node.end, by: isStatement ? by : enclose(snippet, by) }
  }
  const whole = isStatement ? outer : node
  if (!isStatementType(whole)) throw new Error(`no statement can stand where this goes: ${by}`)
  const isListed = holdsInList(isStatement ? beyond : outer, whole)
  return { start: whole.start, end: whole.end, by: isListed ? by : `{ ${by} }` }
}

function isStatementType({ type }: SyntaxNode): boolean {
  return /Statement$|^VariableDeclaration$/.test(type)
}

function isDroppable(node: SyntaxNode, outer: SyntaxNode): boolean {
  return isStatementType(node) || outer.type === 'ArrayExpression'
}

function isCondition(node: SyntaxNode, outer: SyntaxNode): boolean {
  if (outer.type === 'LogicalExpression' || outer.test === node) return true
  const isBody = outer.type === 'ArrowFunctionExpression' && outer.body === node
  return outer.type === 'ReturnStatement' || (isBody && node.type !== 'BlockStatement')
}

function isFunction({ type }: SyntaxNode): boolean {
  return /^(Arrow)?Function/.test(type)
}

function isCallOf({ type, callee }: SyntaxNode, name: string): boolean {
  if (type !== 'CallExpression' && type !== 'NewExpression') return false
  const called = callee as SyntaxNode
  const last = (called.type === 'MemberExpression' ? called.property : called) as SyntaxNode
  return (last.type === 'PrivateIdentifier' ? `#${last.name}` : last.name) === name
}

function findOne({ place, text }: Site, pattern: string): Match {
  return only(findMatches(place, pattern, text), pattern)
}

/** The nearest of such nodes around a match, within its function. */
function findOneAround(
  { place, text }: Site,
  pattern: string,
  isWanted: (node: SyntaxNode, outer: SyntaxNode) => boolean,
): Match {
  const wanted = new Map<SyntaxNode, Match>()
  for (const { node, around } of findMatches(place, pattern, text)) {
    const nodes = [node, ...around]
    const found = nodes.findIndex((one, at) => {
      const outer = nodes[at + 1]
      return outer === undefined || isFunction(one) || isWanted(one, outer)
    })
    const [one, ...others] = nodes.slice(found)
    const [outer] = others
    if (one === undefined || outer === undefined || !isWanted(one, outer)) continue
    wanted.set(one, { node: one, around: others, captured: new Map() })
  }
  return only([...wanted.values()], pattern)
}

/** With the comma that parts it from its neighbour. */
function withoutElement({ elements }: SyntaxNode, element: SyntaxNode): Splice {
  const all = elements as readonly SyntaxNode[]
  const at = all.indexOf(element)
  const [before, after] = [all[at - 1], all[at + 1]]
  if (after !== undefined) return { start: element.start, end: after.start, by: '' }
  return { start: before?.end ?? element.start, end: element.end, by: '' }
}

function only<T>(found: readonly T[], what: string): T {
  const [one] = found
  if (one === undefined || found.length > 1) throw new Error(`${found.length} matches of ${what}`)
  return one
}
