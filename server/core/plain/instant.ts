// What an instant is, everywhere in the interface: RFC 3339 §5.6, with a day that the calendar has. The
// language's own parser takes the 30th of February for the 2nd of March, and 24 o'clock for tomorrow.

const INSTANT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
/** Nothing longer matches: it is not even looked at. */
const CHARACTERS_MAX = 35

/** A leap second is refused: most receivers could not read it. */
export function isInstant(text: string): boolean {
  if (text.length > CHARACTERS_MAX || !INSTANT.test(text)) return false
  // Every month has 28 days; of those that have more the number counts.
  const day = Number(text.slice(8, 10))
  return day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7)))
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
