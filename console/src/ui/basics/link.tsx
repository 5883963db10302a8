import type { MouseEvent, ReactNode } from 'react'
import { navigate, toHref } from '../../router.ts'

export interface LinkProps {
  /** Without /console: `/deliveries?state=PENDING`. */
  to: string
  children: ReactNode
  className?: string
  title?: string
  'aria-current'?: 'page' | undefined
  'aria-label'?: string
  onClick?(): void
}

/** A real link: a plain click stays in the page, anything else is the browser's. */
export function Link({ to, children, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    onClick?.()
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
    window.scrollTo(0, 0)
  }
  return (
    <a href={toHref(to)} onClick={follow} {...rest}>
      {children}
    </a>
  )
}
