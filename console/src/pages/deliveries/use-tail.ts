// The newest page, kept up to date. The stream shows an operator every attempt of one process, and the
// page is then read again; because of the other processes it is also read at intervals. A client has
// only the intervals.

import { useCallback, useEffect, useRef } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useLive } from '../../api/live.ts'
import { useSession } from '../../api/session.ts'
import type { CursorPage, Delivery } from '../../api/types.ts'

/** At most so often, whatever the stream says: a busy service must not keep the browser busy. */
const APART_MS = 800
const READ_EVERY_MS = { heard: 5_000, unheard: 2_000 }

export type TailState = 'off' | 'connecting' | 'live'

export function useTail(path: string, isFollowing: boolean) {
  const { kind } = useSession()
  const isStreamed = kind === 'operator'
  const refetch = useRef<() => void>(() => {})
  const poke = useThrottled(() => refetch.current())
  const isOpen = useLive(isFollowing && isStreamed, { onAccepted: poke, onAttempt: poke })
  const page = useRead<CursorPage<Delivery>>(path, {
    keepsLast: true,
    ...(isFollowing ? { everyMs: READ_EVERY_MS[isOpen ? 'heard' : 'unheard'] } : {}),
  })
  useEffect(() => {
    refetch.current = () => void page.refetch()
  })
  const state: TailState = !isFollowing ? 'off' : isStreamed && !isOpen ? 'connecting' : 'live'
  return { page, state }
}

/** The first call at once, later ones together when the time has passed. */
function useThrottled(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const lastMs = useRef(0)
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    if (timer.current !== undefined) return
    const waitMs = Math.max(0, lastMs.current + APART_MS - Date.now())
    timer.current = setTimeout(() => {
      timer.current = undefined
      lastMs.current = Date.now()
      latest.current()
    }, waitMs)
  }, [])
}
