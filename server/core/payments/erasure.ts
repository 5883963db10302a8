// What is left of the text of a payment, or of one of its events, once the payment has been erased: its id,
// its state and its two instants, and when that was done. Enough for the next write to go on from, and
// nothing about a person. The SQL that writes it is in store/removal/erasures.ts.

/** After the id, where other texts have their status: no other text has this member there. */
export const ERASED_MARK = '"erasedAt":"'
/** `{"id":"`, the id, `",`. */
export const MARK_OFFSET = 45

export function isErased(text: string): boolean {
  return text.startsWith(ERASED_MARK, MARK_OFFSET)
}

/** Null while it is whole. */
export function erasedAtOf(text: string): Date | null {
  if (!isErased(text)) return null
  const start = MARK_OFFSET + ERASED_MARK.length
  return new Date(text.slice(start, text.indexOf('"', start)))
}
