// Arguments that are more than text: instants, durations, numbers, lists. What does not conform is wrong
// usage, reported in a sentence with an example.

import { InvalidArgumentError, Option } from 'commander'
import { isInstant } from '../../server/core/plain/instant.ts'
import { isUuid } from '../../server/core/plain/uuid.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export function parseDuration(text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (!match)
    throw new InvalidArgumentError('Give a number and a unit, such as 250ms, 90s, 10m, 2h, 7d.')
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

/** An option that takes a duration, whose help shows the default as one would write it: 10m. */
export function durationOption(flags: string, about: string, fallback: string): Option {
  return new Option(flags, about)
    .argParser(parseDuration)
    .default(parseDuration(fallback), fallback)
}

/** An instant of RFC 3339, a day (its start, in UTC), or how long ago: `2h`. Returns RFC 3339. */
export function parseInstant(text: string, nowMs: number = Date.now()): string {
  if (/^\d+(ms|s|m|h|d)$/.test(text)) return new Date(nowMs - parseDuration(text)).toISOString()
  const whole = text
    .replace(/^\d{4}-\d\d-\d\d$/, '$&T00:00:00Z')
    .replace(/^(.{11}\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/, '$1:00$2')
  if (!isInstant(whole)) {
    throw new InvalidArgumentError(
      'Give an instant with its zone (2026-11-15T06:00:00Z), a day (2026-11-15), or how long ago (2h).',
    )
  }
  return new Date(whole).toISOString()
}

/** For commander, which hands the previous value in as a second argument. */
export const instant = (text: string): string => parseInstant(text)

/**
 * The end of a period, for what is counted and then confirmed: where it was left open, now, so that what is made in
 * between is not in it. None where the period begins later.
 */
export function endOfAsking(since: string, until: string | undefined): string | undefined {
  const nowMs = Date.now()
  return until ?? (Date.parse(since) < nowMs ? new Date(nowMs).toISOString() : undefined)
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) {
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
    }
    return value
  }
}

export function id(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('Give a uuid.')
  return text.toLowerCase()
}

export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const found = words.find((word) => word.toLowerCase() === text.toLowerCase())
    if (found === undefined) throw new InvalidArgumentError(`Give one of ${words.join(', ')}.`)
    return found
  }
}

/** Gathers an option that may be given several times, or with commas. */
export function listOf<T extends string>(words: readonly T[]): (text: string, so?: T[]) => T[] {
  const one = oneOf(words)
  return (text, so = []) => [...so, ...text.split(',').map((word) => one(word.trim()))]
}

export function gather(text: string, so: string[] = []): string[] {
  return [...so, text]
}

export function webUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('Give an absolute address, such as http://127.0.0.1:8080.')
  }
  return text.replace(/\/+$/, '')
}
