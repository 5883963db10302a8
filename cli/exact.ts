// JSON in which every number is kept as it was written: amounts pass through the command line without
// becoming binary floats. Node's JSON hands the source of a number to a reviver, and takes it back raw.

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
interface ExactJson {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(text: string): object
}
// The types of the language library do not know these two yet.
const exact = JSON as unknown as ExactJson

/** Numbers at `amount` become their text; all others stay numbers. */
export function parseWithAmountText<T>(text: string): T {
  return exact.parse(text, (key, value, { source }) =>
    key === 'amount' && typeof value === 'number' && source !== undefined ? source : value,
  ) as T
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

export function isJsonNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** A number that JSON.stringify writes digit for digit. */
export function rawNumber(text: string): object {
  return exact.rawJSON(text)
}
