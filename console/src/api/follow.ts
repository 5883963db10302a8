// Pages that follow what happens: an event that concerns them makes what they show stale. Only the
// operator has the stream; a client's pages read again at intervals.

import { useEffect, useRef } from 'react'
import { useRefresh } from './hooks.ts'
import { useLive } from './live.ts'
import { useSession } from './session.ts'
import type { AcceptedEvent, AttemptedEvent } from './types.ts'

/** However fast attempts follow each other, the page is read again only so often. */
const REFRESH_APART_MS = 300

/** True while the stream is open. */
export function useFollow(
  concerns: {
    accepted?(event: AcceptedEvent): boolean
    attempt?(event: AttemptedEvent): boolean
  },
  ...prefixes: readonly string[]
): boolean {
  const { kind } = useSession()
  const refresh = useRefresh()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const refreshSoon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      refresh(...prefixes)
    }, REFRESH_APART_MS)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return useLive(kind === 'operator', {
    onAccepted: (event) => {
      if (concerns.accepted?.(event)) refreshSoon()
    },
    onAttempt: (event) => {
      if (concerns.attempt?.(event)) refreshSoon()
    },
  })
}
