// What a string must be before it is stored, signed, counted or shown.

/** PostgreSQL refuses NUL, and UTF-8 has no bytes for a lone surrogate: both would be a 500 later. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** C0, DEL and C1: nothing that a person types, everything that breaks a line or a header. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/**
 * Characters are code points, as in JSON Schema's `maxLength` and PostgreSQL's `char_length`: the
 * published schema, the check and the database then agree about a key of 256 emoji.
 */
export function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as it stands in a page, and in an attribute of it. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
