// Answers of cells as values, with numbers that a binary float would change kept as they were written: `100.00` stays
// `100.00` (decision 0013).

interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  /** Is written as it is by JSON.stringify. */
  rawJSON(text: string): unknown
}

/** Node has it; the types of the language do not yet. */
const exact = JSON as unknown as ExactJson

export function parseAnswer(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exact.rawJSON(source)
      : value,
  )
}
