// The statements of a migration, one by one. Where Citus has distributed a cell, it hands the text that it was given on to the
// nodes as one command, so that it has to be one; and one of them may change a table in only one way.

/** What a text is made of: a stretch in which neither a semicolon nor a comma ends anything, or one other character. */
const PIECE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|[\s\S]/g
const IS_COMMENT = /^(?:--|\/\*)/
const ALTER_TABLE =
  /^(?<head>alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?[\w.]+)\s+(?<actions>[\s\S]+)$/i

/** Without comments between them, and without those in them. */
export function toStatements(text: string): string[] {
  return splitAt(';', text).flatMap(toCommands)
}

/** `alter table` with several actions becomes one for each: within the transaction it comes to the same. */
function toCommands(statement: string): string[] {
  const { head, actions } = ALTER_TABLE.exec(statement)?.groups ?? {}
  if (head === undefined || actions === undefined) return [statement]
  return splitAt(',', actions).map((action) => `${head} ${action}`)
}

/** At each such character that stands outside of texts, names, function bodies and brackets. */
function splitAt(character: ';' | ',', text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [piece] of text.matchAll(PIECE)) {
    if (IS_COMMENT.test(piece)) continue
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === character && depth === 0) parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
