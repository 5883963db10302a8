// Instants in the zone that the viewer chose, with UTC on hover; durations in words that fit a table.

import { useSyncExternalStore } from 'react'
import { isToday, toZoneText, useZone } from './zone.ts'

export interface TimeProps {
  /** Null shows a dash. */
  at: string | number | Date | null | undefined
  /** `full` (the default) with the date, `short` without it today, `relative` as "3 min ago". */
  as?: 'full' | 'short' | 'relative'
}

export function Time({ at, as = 'full' }: TimeProps) {
  useZone()
  if (at === null || at === undefined) return <span className="muted">–</span>
  const date = new Date(at)
  return (
    <time dateTime={date.toISOString()} title={toUtcText(date)} className="nowrap">
      {as === 'relative' ? <Ago date={date} /> : toTimeText(date, as)}
    </time>
  )
}

function toUtcText(date: Date): string {
  return `${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

/** A component that calls this calls `useZone` too. */
export function toTimeText(date: Date, as: 'full' | 'short' = 'full'): string {
  return toZoneText(date, as === 'short' && isToday(date, new Date()) ? 'time' : 'full')
}

function Ago({ date }: { date: Date }) {
  const nowMs = useNow()
  const ms = date.getTime() - nowMs
  if (Math.abs(ms) < 1_500) return 'now'
  return ms < 0 ? `${toDurationText(-ms)} ago` : `in ${toDurationText(ms)}`
}

/** `850 ms`, `12 s`, `3 min 20 s`, `5 h 10 min`, `6 d 2 h`: two units at most. */
export function toDurationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return join(`${minutes} min`, seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return join(`${hours} h`, minutes % 60, 'min')
  return join(`${Math.floor(hours / 24)} d`, hours % 24, 'h')
}

function join(first: string, rest: number, unit: string): string {
  return rest === 0 ? first : `${first} ${rest} ${unit}`
}

/** Now, to the second; all users share one timer, which stops with the last of them. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs)
}

let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function subscribe(onTick: () => void): () => void {
  listeners.add(onTick)
  if (timer === undefined) {
    nowMs = Date.now()
    timer = setInterval(() => {
      nowMs = Date.now()
      for (const listener of listeners) listener()
    }, 1_000)
  }
  return () => {
    listeners.delete(onTick)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
