// TypeScript as syntax trees, read only as far as mutants need it: every node has a type, where it stands in its text, and
// its parts by name. Parentheses, comments and semicolons are in none of them.

import { parseAst } from 'rolldown/parseAst'

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [part: string]: unknown
}

export function parseFile(text: string): SyntaxNode {
  return parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode
}

/** One expression, a private name on its own (`#name`), or else statements. */
export function parseSnippet(code: string): SyntaxNode | readonly SyntaxNode[] {
  const isPrivateName = /^#\w+$/.test(code)
  const [statement] = parseBody(`(${isPrivateName ? 'this.' : ''}${code}\n)`) ?? []
  if (statement === undefined) return parseBody(code) ?? refuse(code)
  const expression = statement.expression as SyntaxNode
  return isPrivateName ? (expression.property as SyntaxNode) : expression
}

/** Where `this.#name`, `await`, `return` and `continue` are all at home. Null when it is no code. */
function parseBody(code: string): readonly SyntaxNode[] | null {
  try {
    const program = parseFile(`class Home { async run() { for (;;) {\n${code}\n} } }`)
    const block = walk(program).find(({ node }) => node.type === 'ForStatement')?.node.body
    return isNode(block) ? (block.body as readonly SyntaxNode[]) : null
  } catch {
    return null
  }
}

function refuse(code: string): never {
  throw new Error(`this is neither an expression nor statements: ${code}`)
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** An expression as it can stand anywhere, without a change in what belongs together. */
export function enclose({ type }: SyntaxNode, text: string): string {
  return LOOSE.test(type) ? `(${text})` : text
}

const LOOSE =
  /^(ArrowFunction|Assignment|Await|Binary|Conditional|Logical|Sequence|TSAs|TSSatisfies|Unary|Yield)Expression$/

export interface Found {
  node: SyntaxNode
  /** The nearest first. */
  around: readonly SyntaxNode[]
}

/** A node and all that is in it. */
export function* walk(node: SyntaxNode, around: readonly SyntaxNode[] = []): Generator<Found> {
  yield { node, around }
  const inside = [node, ...around]
  for (const part of Object.values(node)) {
    for (const child of Array.isArray(part) ? part : [part]) {
      if (isNode(child)) yield* walk(child, inside)
    }
  }
}

/** True when one of the lists of the outer node holds the inner one. */
export function holdsInList(outer: SyntaxNode | undefined, inner: SyntaxNode): boolean {
  return Object.values(outer ?? {}).some((part) => Array.isArray(part) && part.includes(inner))
}
