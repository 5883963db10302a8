// SQL in the texts of a place, token by token: white space, line breaks and comments of SQL do not matter. What `${…}`
// puts into a text parts its tokens from each other.

import { type SyntaxNode, walk } from './syntax.ts'

export interface TextRange {
  start: number
  end: number
}

interface Token extends TextRange {
  text: string
}

const TOKENS = /--.*|\/\*[\s\S]*?\*\/|'[^']*'|\$?\w+|::|<=|>=|<>|\|\||\S/g

/** Where these tokens stand in a row. */
export function findSql(place: SyntaxNode, tokens: string, text: string): TextRange[] {
  const wanted = readTokens(tokens, 0).map((token) => token.text)
  return [...walk(place)].flatMap(({ node }) => findInRow(tokensOf(node, text), wanted))
}

/** Of the part of a template between what is put into it, or of a quoted text; nothing else has any. */
function tokensOf({ type, start, end, value }: SyntaxNode, text: string): Token[] {
  // Both begin after one character: a quotation mark, or the brace that ends what was put in.
  if (type === 'TemplateElement') {
    const { raw } = value as { raw: string }
    return readTokens(text.slice(start + 1, start + 1 + raw.length), start + 1)
  }
  return type === 'Literal' && typeof value === 'string'
    ? readTokens(text.slice(start + 1, end - 1), start + 1)
    : []
}

function readTokens(sql: string, offset: number): Token[] {
  return [...sql.matchAll(TOKENS)]
    .filter(([text]) => !/^(--|\/\*)/.test(text))
    .map(({ 0: text, index }) => {
      const start = offset + index
      return { text, start, end: start + text.length }
    })
}

function findInRow(tokens: readonly Token[], wanted: readonly string[]): TextRange[] {
  return tokens.flatMap(({ start }, at) => {
    const row = tokens.slice(at, at + wanted.length)
    const fits = wanted.every((text, place) => row[place]?.text === text)
    return fits ? [{ start, end: row.at(-1)?.end ?? start }] : []
  })
}
