// What someone keeps of a list, in this browser's storage, under who is signed in: the next user has their own (0103).

import { useMemo, useSyncExternalStore } from 'react'
import { useSession } from '../../api/session.ts'
import { type Kept, parseKept } from './kept.ts'

const listeners = new Set<() => void>()
/** Where a browser has no storage, what is kept holds until the page is left. */
const unstored = new Map<string, string>()

export function useKept(list: string): readonly [Kept, (change: (kept: Kept) => Kept) => void] {
  const { kind, actor, clientId } = useSession()
  const key = `paybell-list ${kind} ${actor ?? clientId} ${list}`
  const text = useSyncExternalStore(subscribe, () => read(key))
  const kept = useMemo(() => parseKept(text), [text])
  return [kept, (change) => write(key, JSON.stringify(change(parseKept(read(key)))))]
}

/** Another tab may change it, too. */
function subscribe(onChange: () => void): () => void {
  listeners.add(onChange)
  window.addEventListener('storage', onChange)
  return () => {
    listeners.delete(onChange)
    window.removeEventListener('storage', onChange)
  }
}

function read(key: string): string | null {
  try {
    return unstored.get(key) ?? localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, text: string): void {
  try {
    localStorage.setItem(key, text)
  } catch {
    unstored.set(key, text)
  }
  for (const listener of listeners) listener()
}
