// Names that are not known, of members and parameters. One that is spelt almost like a known one was meant as that:
// ignoring it would do something other than what was asked for. So it is refused everywhere; any other unknown name is
// refused, too, or ignored where a caller may send more than we read.

import type { FieldError } from './errors.ts'

export interface KnownNames {
  known: ReadonlySet<string>
  /** Whether names that resemble nothing are ignored. */
  isTolerant: boolean
  /** Names that are refused for a reason of their own, with that reason. */
  refused?: Readonly<Record<string, string>> | undefined
}

/** More say no more. */
export const ERRORS_MAX = 20
/** Each comparison takes some 5 µs, and 64 KiB hold 4,000 names. Nobody misspells after fifty names that mean nothing here. */
const COMPARED_MAX = 50
/** What is not plainly a name may be anything, a secret too, and is not repeated to the caller. */
const PLAIN_NAME = /^[\w.[\]-]{1,40}$/

/** `pointer` is that of the object whose names these are. */
export function checkNames(
  names: Iterable<string>,
  { known, isTolerant, refused = {} }: KnownNames,
  pointer = '',
): readonly FieldError[] {
  const errors: FieldError[] = []
  const candidates = [...known, ...Object.keys(refused)]
  let compared = 0
  for (const name of names) {
    if (known.has(name)) continue
    if (++compared > COMPARED_MAX || errors.length === ERRORS_MAX) break
    const meant = findNearMiss(name, candidates)
    if (meant === null && isTolerant) continue
    errors.push({ pointer: pointerTo(pointer, name), ...toFault(name, meant, refused) })
  }
  return errors
}

function toFault(name: string, meant: string | null, refused: Readonly<Record<string, string>>) {
  const reason = meant === null ? undefined : refused[meant]
  if (reason !== undefined) return { code: 'not-taken', detail: reason }
  const shown = PLAIN_NAME.test(name) ? name : 'A name'
  return meant === null
    ? { code: 'unknown', detail: `${shown} is not known here.` }
    : { code: 'misspelt', detail: `${shown} is not known here. Did you mean ${meant}?` }
}

function pointerTo(parent: string, name: string): string {
  return PLAIN_NAME.test(name) ? `${parent}/${name}` : parent
}

/**
 * The known name that was probably meant; null where none is near. Case, underscores and hyphens do not count, nor does
 * the s of a plural. Beyond that one letter may differ in names of four and five letters, two in longer ones: a swap of
 * neighbours is one. In shorter names every other word is two letters away.
 */
export function findNearMiss(name: string, known: Iterable<string>): string | null {
  const spelt = toPlain(name)
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const meant = toPlain(candidate)
    const distance = isPlural(spelt, meant) ? 0 : distanceBetween(spelt, meant)
    if (distance > allowedDistance(Math.max(spelt.length, meant.length))) continue
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

function allowedDistance(letters: number): number {
  if (letters < 4) return 0
  return letters < 6 ? 1 : DISTANCE_MAX
}

const DISTANCE_MAX = 2

function isPlural(one: string, other: string): boolean {
  return one === `${other}s` || other === `${one}s`
}

function toPlain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/**
 * Letters to add, to leave out, to replace or to swap with their neighbour. Lengths that alone differ by more than
 * `most` are not compared, so the work does not grow with what a caller sends.
 */
export function distanceBetween(one: string, other: string, most = DISTANCE_MAX): number {
  if (Math.abs(one.length - other.length) > most) return Number.POSITIVE_INFINITY
  let before: readonly number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const replaced = (above[column - 1] as number) + (isSame ? 0 : 1)
      const shorter = Math.min(above[column] as number, current[column - 1] as number) + 1
      const swapped =
        isSwap && row > 1 && column > 1 ? (before[column - 2] as number) + 1 : replaced
      current.push(Math.min(replaced, shorter, swapped))
    }
    before = above
    above = current
  }
  return above[other.length] as number
}
