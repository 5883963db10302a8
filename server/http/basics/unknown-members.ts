// Members of a body and parameters of a query that no schema names (core/plain/spelling.ts says what becomes of them).
// A schema says with `isTolerant` that it ignores what resembles nothing, or, within one that does, that it does not; and with
// `refused` what it refuses for a reason of its own. Neither is published.

import type { FieldError } from '../../core/plain/errors.ts'
import { checkNames, ERRORS_MAX } from '../../core/plain/spelling.ts'

interface ObjectSchema {
  properties?: Readonly<Record<string, ObjectSchema>>
  items?: ObjectSchema
  anyOf?: readonly ObjectSchema[]
  patternProperties?: unknown
  additionalProperties?: unknown
  isTolerant?: boolean
  refused?: Readonly<Record<string, string>>
}

export type UnknownCheck = (value: unknown) => readonly FieldError[]

/** The keywords that only this check reads. */
export const OWN_KEYWORDS = ['isTolerant', 'refused'] as const

export function unknownCheckOf(schema: unknown): UnknownCheck {
  const whole = schema as ObjectSchema
  const check = makeChecker(whole, whole.isTolerant === true)
  return (value) => check(value, '')
}

type Checker = (value: unknown, pointer: string) => readonly FieldError[]

function checkItems(items: readonly unknown[], check: Checker, pointer: string) {
  const errors: FieldError[] = []
  for (const [at, item] of items.entries()) {
    // A list may be as long as the body: ajv refuses that, and has not been asked yet.
    if (errors.length >= ERRORS_MAX) break
    errors.push(...check(item, `${pointer}/${at}`))
  }
  return errors
}

const NONE: readonly FieldError[] = []
const ACCEPTS_ALL: Checker = () => NONE

function makeChecker(schema: ObjectSchema, isTolerantAround: boolean): Checker {
  const { properties, items, anyOf, isTolerant = isTolerantAround } = schema
  if (items !== undefined) {
    const check = makeChecker(items, isTolerant)
    if (check === ACCEPTS_ALL) return ACCEPTS_ALL
    return (value, pointer) => (Array.isArray(value) ? checkItems(value, check, pointer) : NONE)
  }
  const alternative = anyOf?.find((one) => one.properties !== undefined)
  if (properties === undefined) {
    return alternative === undefined ? ACCEPTS_ALL : makeChecker(alternative, isTolerant)
  }
  if (schema.patternProperties !== undefined || schema.additionalProperties) return ACCEPTS_ALL
  const names = { known: new Set(Object.keys(properties)), isTolerant, refused: schema.refused }
  const inside = Object.entries(properties).map(
    ([name, member]) => [name, makeChecker(member, isTolerant)] as const,
  )
  const nested = inside.filter(([, check]) => check !== ACCEPTS_ALL)
  return (value, pointer) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return NONE
    const errors = checkNames(Object.keys(value), names, pointer)
    const more = nested.flatMap(([name, check]) =>
      check((value as Record<string, unknown>)[name], `${pointer}/${name}`),
    )
    return more.length > 0 ? [...errors, ...more] : errors
  }
}
