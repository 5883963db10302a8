// GET /operator/v1/stream, read by fetch: an EventSource could not send the header that the session's
// cookie needs. It reconnects by itself.

import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { readServerSentEvents } from '../../../sdk/src/plain/server-sent-events.ts'
import { useShowsAll } from './cells.ts'
import { ApiProblem, openStream } from './client.ts'
import type { AcceptedEvent, AttemptedEvent } from './types.ts'

export interface LiveHandlers {
  onAccepted?(event: AcceptedEvent): void
  onAttempt?(event: AttemptedEvent): void
}

const AGAIN_MS = 3_000

/**
 * True while the stream is open. Handlers may change with every render. It begins with so many `recent` attempts,
 * again after it was cut off.
 */
export function useLive(isEnabled: boolean, handlers: LiveHandlers, recent = 0): boolean {
  const isSeen = useSyncExternalStore(onVisibility, () => !document.hidden)
  // The stream is that of one cell.
  const isOne = useShowsAll() === false
  const [isOpen, setOpen] = useState(false)
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  useEffect(() => {
    // A browser has few connections for one service: a hidden page gives its own back.
    if (!isEnabled || !isSeen || !isOne) return
    const stop = new AbortController()
    void watch(recent, stop.signal, latest, setOpen)
    return () => {
      stop.abort()
      setOpen(false)
    }
  }, [isEnabled, isSeen, isOne, recent])
  return isOpen
}

function onVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

async function watch(
  recent: number,
  signal: AbortSignal,
  handlers: { readonly current: LiveHandlers },
  setOpen: (isOpen: boolean) => void,
): Promise<void> {
  const path = `/operator/v1/stream${recent > 0 ? `?recent=${recent}` : ''}`
  while (!signal.aborted) {
    try {
      const { body } = await openStream(path, signal)
      setOpen(true)
      for await (const { event, data } of readServerSentEvents(body)) tell(handlers, event, data)
    } catch (error) {
      if (signal.aborted) return
      // Signed out, or not for this role: asking again would change nothing.
      if (error instanceof ApiProblem && (error.status === 401 || error.status === 403)) return
    }
    setOpen(false)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

function tell(handlers: { readonly current: LiveHandlers }, name: string, data: string): void {
  if (name === 'accepted') handlers.current.onAccepted?.(JSON.parse(data) as AcceptedEvent)
  if (name === 'attempt') handlers.current.onAttempt?.(JSON.parse(data) as AttemptedEvent)
}
