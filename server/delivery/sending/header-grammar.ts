// What names and values of headers are made of (RFC 9110 §5), in what we send and in what we read. Each expression is
// one class of characters, looked for once: none can go back and try again, so a line costs time by its length alone,
// whatever is in it. What needs more than that is walked through, byte by byte.

const NOT_OF_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/
/** Tab, and the visible of latin-1: each is one byte, and none of them ends a line. */
const NOT_OF_VALUE = /[^\t\x20-\x7e\x80-\xff]/

export function isToken(text: string): boolean {
  return text !== '' && !NOT_OF_TOKEN.test(text)
}

/** With the spaces around it. */
export function isValue(text: string): boolean {
  return !NOT_OF_VALUE.test(text)
}

/** Not `trim`, which takes a no-break space too. */
export function withoutSpace(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isSpace(value[start])) start += 1
  while (end > start && isSpace(value[end - 1])) end -= 1
  return value.slice(start, end)
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}

/** Where `;name`, `;name=token` and `;name="quoted"` end, one after the other; -1 where one is none of these. */
export function findEndOfParameters(line: string, start: number): number {
  let at = start
  while (at !== -1 && line[at] === ';') {
    at = findEndOfToken(line, at + 1)
    if (line[at] !== '=') continue
    at = line[at + 1] === '"' ? findEndOfQuoted(line, at + 2) : findEndOfToken(line, at + 1)
  }
  return at
}

function findEndOfToken(line: string, start: number): number {
  let at = start
  while (isToken(line[at] ?? '')) at += 1
  return at === start ? -1 : at
}

/** After its second quote. */
function findEndOfQuoted(line: string, start: number): number {
  for (let at = start; at < line.length; at += 1) {
    if (line[at] === '"') return at + 1
    if (line[at] === '\\') at += 1
    if (!isQuotable(line[at])) return -1
  }
  return -1
}

function isQuotable(character: string | undefined): boolean {
  return character !== undefined && isValue(character) && character < '\x7f'
}
