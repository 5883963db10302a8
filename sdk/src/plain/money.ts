// Exact decimals. JSON.parse turns 100.00 into 100 and 9007199254740993 into 9007199254740992 without
// an error; so amounts are taken out of the text before it is parsed, and stay text.

/**
 * JSON to a value; every member called `amount` that is a number becomes the text of that number.
 *
 * ```js
 * import { parseExact } from '@paybell/sdk'
 *
 * console.log(parseExact('{"amount":{"amount":100.00,"currency":"EUR"}}')) // … '100.00' …
 * ```
 */
export function parseExact(json: string): unknown {
  return JSON.parse(quoteAmounts(json))
}

/**
 * A payment to JSON; the inverse of `parseExact`: the amount is written as a number, digit for digit.
 *
 * ```js
 * import { toExactJson } from '@paybell/sdk'
 *
 * console.log(toExactJson({ amount: { amount: '100.00', currency: 'EUR' } })) // … 100.00 …
 * ```
 */
export function toExactJson(payment: object): string {
  const members = Object.entries(payment).flatMap(([name, value]) => {
    const text = name === 'amount' ? moneyJson(value) : JSON.stringify(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

/**
 * The amount in the smallest unit of its currency: `toMinorUnits('1250.50', 2)` is `125050n`. Throws
 * rather than round when the amount has more decimals than that.
 *
 * ```js
 * import { toMinorUnits } from '@paybell/sdk'
 *
 * console.log(toMinorUnits('1250.50', 2)) // 125050n
 * ```
 */
export function toMinorUnits(amount: string, decimals: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(amount)
  if (!match) throw new RangeError('The amount is not a decimal number.')
  const [, sign, whole, fraction = '', exponent = '0'] = match
  const digits = `${whole}${fraction}`
  const shift = decimals + Number(exponent) - fraction.length
  const kept = shift >= 0 ? digits + '0'.repeat(shift) : digits.slice(0, shift)
  if (shift < 0 && /[1-9]/.test(digits.slice(shift))) {
    throw new RangeError(`The amount has more than ${decimals} decimals.`)
  }
  const units = BigInt(kept === '' ? '0' : kept)
  return sign ? -units : units
}

// Strict, so that what is no JSON number stays none: of 01 it takes the 0, and JSON.parse refuses the 1.
const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const COLON = /\s*:\s*/y

/**
 * Walks from string to string, so that nothing inside one is taken for a member. Right for every text
 * that JSON.parse accepts; any other is left for JSON.parse to refuse.
 */
function quoteAmounts(json: string): string {
  let out = ''
  let copied = 0
  for (let at = json.indexOf('"'); at !== -1; at = json.indexOf('"', at)) {
    const end = stringEnd(json, at)
    const name = json.slice(at, end)
    at = end
    COLON.lastIndex = end
    if (!COLON.test(json) || !isAmount(name)) continue
    const start = COLON.lastIndex
    NUMBER.lastIndex = start
    if (!NUMBER.test(json)) continue
    at = NUMBER.lastIndex
    out += `${json.slice(copied, start)}"${json.slice(start, at)}"`
    copied = at
  }
  return out + json.slice(copied)
}

/** The index after the quote that closes the string: one that follows an even number of backslashes. */
function stringEnd(json: string, start: number): number {
  for (let end = start; ; ) {
    end = json.indexOf('"', end + 1)
    if (end === -1) return json.length
    let first = end
    while (json[first - 1] === '\\') first--
    if ((end - first) % 2 === 0) return end + 1
  }
}

/** Also with escapes: "\u0061mount" is the same name. The longest spelling has 38 characters. */
function isAmount(name: string): boolean {
  if (name === '"amount"') return true
  if (name.length > 38 || !name.includes('\\')) return false
  try {
    return JSON.parse(name) === 'amount'
  } catch {
    return false
  }
}

function moneyJson(money: unknown): string | undefined {
  if (typeof money !== 'object' || money === null || !('amount' in money)) {
    return JSON.stringify(money)
  }
  const { amount, ...rest } = money
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(String(amount))) {
    throw new RangeError('amount.amount is not a decimal number.')
  }
  const others = JSON.stringify(rest).slice(1)
  return `{"amount":${amount}${others === '}' ? '' : ','}${others}`
}
