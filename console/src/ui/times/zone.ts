// The zone that all times of the console are written in: the viewer's own, or UTC. One choice for every page,
// kept by the browser.

import { useSyncExternalStore } from 'react'

export type Zone = 'local' | 'UTC'

const KEY = 'paybell-zone'

let zone: Zone = readStored()
const listeners = new Set<() => void>()

function readStored(): Zone {
  try {
    return localStorage.getItem(KEY) === 'UTC' ? 'UTC' : 'local'
  } catch {
    return 'local'
  }
}

export function currentZone(): Zone {
  return zone
}

/** For what writes a time: it is rendered again when the zone changes. */
export function useZone(): Zone {
  return useSyncExternalStore((onChange) => {
    listeners.add(onChange)
    return () => listeners.delete(onChange)
  }, currentZone)
}

export function chooseZone(next: Zone): void {
  zone = next
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // Without storage the choice holds for this page.
  }
  for (const listener of listeners) listener()
}

/** `Europe/Berlin`, or `UTC`. */
export function zoneName(): string {
  return zone === 'UTC' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** `2026-11-15T06:30`, as a field gives it, in the chosen zone. Not a number where it is no time. */
export function parseInZone(fieldValue: string): number {
  const hasZone = /(Z|[+-]\d\d:\d\d)$/.test(fieldValue)
  return Date.parse(zone === 'UTC' && !hasZone ? `${fieldValue}Z` : fieldValue)
}

/** What a field of type datetime-local holds, to the second. */
export function toFieldTime(ms: number): string {
  const offsetMs = zone === 'UTC' ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offsetMs).toISOString().slice(0, 19)
}

type Style = 'full' | 'time' | 'clock' | 'day'

const STYLES: Readonly<Record<Style, Intl.DateTimeFormatOptions>> = {
  full: {
    year: 'numeric',
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: '2-digit', month: 'short' },
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format is dear, and a page has hundreds of times. */
function formatOf(style: Style): Intl.DateTimeFormat {
  const key = style + zone
  const kept = formats.get(key)
  if (kept) return kept
  const inZone = zone === 'UTC' ? { timeZone: 'UTC' } : {}
  const made = new Intl.DateTimeFormat(undefined, { ...STYLES[style], ...inZone })
  formats.set(key, made)
  return made
}

export function toZoneText(date: Date, style: Style): string {
  return formatOf(style).format(date)
}

export function isToday(date: Date, now: Date): boolean {
  return toFieldTime(date.getTime()).slice(0, 10) === toFieldTime(now.getTime()).slice(0, 10)
}
