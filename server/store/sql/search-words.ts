// Names by their words (migrations/0022): every word that was typed begins a word of the name.

/** A condition that an index serves; `given` is a parameter. Without a letter or a digit, nothing matches. */
export function isNamed(column: string, given: string): string {
  return `search_words(${column}) @@ search_query(${given}::text)`
}
