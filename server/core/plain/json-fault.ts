// Where a text that is no JSON stops being JSON, in words: JSON.parse tells it for some faults only, and quotes the text.
// Read by hand and only after a refusal, so that nothing which is valid pays for it.

/** Characters that are looked at: some 20 ns each. A fault behind them has no place. */
const LOOKED_AT_MAX = 256 * 1_024

export function describeJsonFault(text: string): string {
  const at = new FaultScan(text).find()
  if (at === null) return 'not valid JSON'
  if (at >= text.length) return text.trim() === '' ? 'empty, not JSON' : 'JSON that ends too early'
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const character = at - before.lastIndexOf('\n')
  return line === 1
    ? `not valid JSON at character ${character}`
    : `not valid JSON at line ${line}, character ${character}`
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/** What may come next: a value, a member's name, or what follows either. */
type Next =
  | 'value'
  | 'value-or-close'
  | 'name'
  | 'name-or-close'
  | 'colon'
  | 'comma-or-close'
  | 'end'

class FaultScan {
  readonly #text: string
  readonly #closers: string[] = []
  #at = 0
  #next: Next = 'value'
  #isInString = false

  constructor(text: string) {
    this.#text = text
  }

  /** The first character that cannot stand there; the text's length where it ends too early. */
  find(): number | null {
    for (;;) {
      this.#skip(SPACE)
      if (this.#at > LOOKED_AT_MAX) return null
      if (this.#at >= this.#text.length) {
        return this.#next === 'end' && !this.#isInString ? null : this.#text.length
      }
      if (!this.#take(this.#text[this.#at] as string)) return this.#at
    }
  }

  #take(character: string): boolean {
    switch (this.#next) {
      case 'value':
        return this.#value(character)
      case 'value-or-close':
        return this.#close(character) || this.#value(character)
      case 'name':
        return this.#name(character)
      case 'name-or-close':
        return this.#close(character) || this.#name(character)
      case 'colon':
        return this.#step(character === ':', 'value')
      case 'comma-or-close':
        return this.#close(character) || this.#comma(character)
      case 'end':
        return false
    }
  }

  #value(character: string): boolean {
    if (character === '"') return this.#string() && this.#valueEnded()
    if (character === '{') return this.#open('}', 'name-or-close')
    if (character === '[') return this.#open(']', 'value-or-close')
    return this.#skip(SCALAR) && this.#valueEnded()
  }

  #name(character: string): boolean {
    if (character !== '"' || !this.#string()) return false
    this.#next = 'colon'
    return true
  }

  #comma(character: string): boolean {
    return this.#step(character === ',', this.#closers.at(-1) === '}' ? 'name' : 'value')
  }

  #open(closer: string, next: Next): boolean {
    this.#closers.push(closer)
    return this.#step(true, next)
  }

  #close(character: string): boolean {
    if (character !== this.#closers.at(-1)) return false
    this.#closers.pop()
    this.#at++
    return this.#valueEnded()
  }

  #valueEnded(): boolean {
    this.#next = this.#closers.length === 0 ? 'end' : 'comma-or-close'
    return true
  }

  #step(isRight: boolean, next: Next): boolean {
    if (!isRight) return false
    this.#at++
    this.#next = next
    return true
  }

  /** Past its closing quote, or to the character that may not stand in it. */
  #string(): boolean {
    this.#at++
    this.#isInString = true
    while (this.#at < this.#text.length && this.#at <= LOOKED_AT_MAX) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) {
        this.#at++
        this.#isInString = false
        return true
      }
      if (code < 0x20) return false
      if (code !== 0x5c) this.#at++
      else if (!this.#skip(ESCAPE)) return false
    }
    // Too long or not closed: the look around it says which.
    return true
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    const isThere = pattern.test(this.#text)
    if (isThere) this.#at = pattern.lastIndex
    return isThere
  }
}
