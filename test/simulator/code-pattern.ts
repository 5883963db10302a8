// A pattern of code, held against syntax trees: names and structure count, and nothing of how it is written. `_` stands
// for any one part, `__` for any number of them in a list. What `_1` to `_9` and `__1` to `__9` stood for can be put into
// the code that takes the place of the match; such a name that comes twice stands for the same text twice.

import { isDeepStrictEqual } from 'node:util'
import { enclose, type Found, isNode, parseSnippet, type SyntaxNode, walk } from './syntax.ts'

export interface Match extends Found {
  /** What the names of the pattern stood for. */
  captured: ReadonlyMap<string, string>
}

const WILDCARD = /^__?\d?$/
const REST = /^__\d?$/

/** Parts that say nothing of what the code is, */
const UNSEEN = new Set(['start', 'end', 'raw', 'range', 'loc', 'parent'])
/** and those of types: a pattern may leave them out. */
const TYPES = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType'])

/** All matches inside a node; of several with the same range the outermost. */
export function findMatches(within: SyntaxNode, pattern: string, text: string): Match[] {
  const snippet = parseSnippet(pattern)
  const wanted = isNode(snippet) ? snippet : snippet[0]
  if (wanted === undefined || (!isNode(snippet) && snippet.length > 1)) {
    throw new Error(`a pattern is one expression or one statement: ${pattern}`)
  }
  const matches = new Map<string, Match>()
  for (const found of walk(within)) {
    const matching = new Matching(text)
    const range = `${found.node.start}-${found.node.end}`
    if (!matches.has(range) && matching.fits(wanted, found.node)) {
      matches.set(range, { ...found, captured: matching.captured })
    }
  }
  return [...matches.values()]
}

/** The code with what was captured in the place of its names. */
export function fillIn(code: string, captured: ReadonlyMap<string, string>): string {
  return code.replace(/(?<![\w$'])__?\d?(?![\w$'])/g, (name) => {
    const text = captured.get(name)
    if (text === undefined) throw new Error(`the pattern captures no ${name} for: ${code}`)
    return text
  })
}

class Matching {
  readonly captured = new Map<string, string>()
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  fits(wanted: unknown, found: unknown): boolean {
    if (Array.isArray(wanted)) return Array.isArray(found) && this.#fitsList(wanted, found)
    if (!isNode(wanted)) return isDeepStrictEqual(wanted, found)
    if (!isNode(found)) return false
    const name = nameOf(wanted)
    if (name !== null && WILDCARD.test(name)) return this.#capture(name, [found])
    if (wanted.type !== found.type) return false
    return Object.keys(wanted).every((part) => {
      if (UNSEEN.has(part) || (TYPES.has(part) && wanted[part] === null)) return true
      return this.fits(wanted[part], found[part])
    })
  }

  #fitsList(wanted: readonly unknown[], found: readonly unknown[]): boolean {
    const rest = wanted.findIndex((one) => isNode(one) && REST.test(nameOf(one) ?? ''))
    if (rest < 0) {
      return wanted.length === found.length && wanted.every((one, at) => this.fits(one, found[at]))
    }
    const after = wanted.length - rest - 1
    const restEnd = found.length - after
    if (restEnd < rest) return false
    const others = [...wanted.slice(0, rest), ...wanted.slice(rest + 1)]
    const left = [...found.slice(0, rest), ...found.slice(restEnd)]
    if (!others.every((one, at) => this.fits(one, left[at]))) return false
    return this.#capture(nameOf(wanted[rest] as SyntaxNode) ?? '', found.slice(rest, restEnd))
  }

  #capture(name: string, nodes: readonly unknown[]): boolean {
    if (!/\d/.test(name)) return true
    const [first, last] = [nodes.at(0), nodes.at(-1)]
    const all = isNode(first) && isNode(last) ? this.#text.slice(first.start, last.end) : ''
    const text = isNode(first) && nodes.length === 1 ? enclose(first, all) : all
    const before = this.captured.get(name)
    this.captured.set(name, text)
    return before === undefined || before === text
  }
}

/** Of a name that stands alone: as an expression, a statement, or a member of an object. */
function nameOf(node: SyntaxNode): string | null {
  if (node.type === 'Identifier') return node.name as string
  if (node.type === 'ExpressionStatement') return nameOf(node.expression as SyntaxNode)
  if (node.type === 'Property' && node.shorthand) return nameOf(node.value as SyntaxNode)
  return null
}
