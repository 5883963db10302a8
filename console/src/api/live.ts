// GET /operator/v1/stream, read by fetch: an EventSource could not send the header that the session's
// cookie needs. Broken off, it comes back by itself.

import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { ApiProblem, send } from './client.ts'
import type { AcceptedEvent, AttemptedEvent } from './types.ts'

export interface LiveHandlers {
  onAccepted?(event: AcceptedEvent): void
  onAttempt?(event: AttemptedEvent): void
}

const AGAIN_MS = 3_000

/** True while the stream is open. Handlers may change with every render. */
export function useLive(isEnabled: boolean, handlers: LiveHandlers): boolean {
  const isSeen = useSyncExternalStore(onVisibility, () => !document.hidden)
  const [isOpen, setOpen] = useState(false)
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  useEffect(() => {
    // A browser has few connections for one service: a page that nobody sees gives its own back.
    if (!isEnabled || !isSeen) return
    const stop = new AbortController()
    void watch(stop.signal, latest, setOpen)
    return () => {
      stop.abort()
      setOpen(false)
    }
  }, [isEnabled, isSeen])
  return isOpen
}

function onVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

async function watch(
  signal: AbortSignal,
  handlers: { readonly current: LiveHandlers },
  setOpen: (isOpen: boolean) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const answer = await send('GET', '/operator/v1/stream', { signal })
      setOpen(true)
      if (answer.body) await readEvents(answer.body, (name, data) => tell(handlers, name, data))
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

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (name: string, data: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += decoder.decode(value, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
      const fieldOf = (name: string) => fields.find((field) => field?.[1] === name)?.[2]
      const data = fieldOf('data')
      if (data !== undefined) onEvent(fieldOf('event') ?? 'message', data)
    }
  }
}
