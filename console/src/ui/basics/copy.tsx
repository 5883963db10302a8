// Things to copy: ids, commands, secrets.

import { useState } from 'react'

export function Copy({
  text,
  label = 'Copy',
  isNamed = false,
}: {
  text: string
  label?: string
  /** Shows the label: where what is copied does not stand beside it. */
  isNamed?: boolean
}) {
  const [said, setSaid] = useState<string | null>(null)
  const copy = async () => {
    setSaid((await copyText(text)) ? 'Copied' : 'Select and copy by hand')
    setTimeout(() => setSaid(null), 1_500)
  }
  return (
    <button type="button" className="copy" onClick={copy} aria-label={label}>
      <span aria-live="polite">{said ?? (isNamed ? label : 'Copy')}</span>
    </button>
  )
}

/** The clipboard is only there on https and on localhost; elsewhere the old way still works. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const focused = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    area.setAttribute('readonly', '')
    const parent = document.querySelector('dialog[open]') ?? document.body
    parent.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return isCopied
  }
}

/** An id: short in tables, whole on hover, copied as a whole. */
export function Id({ value, isShort = false }: { value: string; isShort?: boolean }) {
  return (
    <span className={isShort ? 'nowrap' : undefined}>
      <span className="id break" title={value}>
        {isShort ? shortId(value) : value}
      </span>
      <Copy text={value} label={`Copy ${value}`} />
    </span>
  )
}

/** The end of an id, because the beginning of a UUID of version 7 is the time. */
export function shortId(id: string): string {
  return id.length > 16 ? `…${id.slice(-12)}` : id
}

/** A command or a text of many lines, with a button that copies all of it. */
export function Code({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <Copy text={text} label={label} />
    </div>
  )
}
