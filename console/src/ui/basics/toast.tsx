// Short messages about something that was done: screen readers read them out, and they disappear.

import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react'
import { Button } from './button.tsx'

type ToastTone = 'good' | 'bad' | 'info'

interface Toast {
  id: number
  tone: ToastTone
  text: string
}

const SHOWN_MS = 6_000
const SHOWN_MAX = 4

const ToastContext = createContext<(text: string, tone?: ToastTone) => void>(() => {})

/** `toast('Replayed.')`, `toast(problem.message, 'bad')`. */
export function useToast(): (text: string, tone?: ToastTone) => void {
  return useContext(ToastContext)
}

export function Toasts({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<readonly Toast[]>([])
  const lastId = useRef(0)
  const remove = useCallback(
    (id: number) => setShown((toasts) => toasts.filter((toast) => toast.id !== id)),
    [],
  )
  const add = useCallback(
    (text: string, tone: ToastTone = 'good') => {
      const id = ++lastId.current
      setShown((toasts) => [...toasts, { id, tone, text }].slice(-SHOWN_MAX))
      // What went wrong stays until it was read.
      if (tone !== 'bad') setTimeout(() => remove(id), SHOWN_MS)
    },
    [remove],
  )
  return (
    <ToastContext value={add}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {shown.map(({ id, tone, text }) => (
          <div key={id} className={`toast tone-${tone}`}>
            <span className="break">{text}</span>
            <Button isSmall look="bare" aria-label="Close the message" onClick={() => remove(id)}>
              ×
            </Button>
          </div>
        ))}
      </div>
    </ToastContext>
  )
}
