// One box for any id, external id, name or address. Arrows choose, Enter goes there; Enter before the answer
// has come goes to the first that it brings.

import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useRead } from '../api/hooks.ts'
import { useSession } from '../api/session.ts'
import type { SearchHit } from '../api/types.ts'
import { navigate, toQuery } from '../router.ts'
import { State } from '../ui/basics/badge.tsx'
import { Problem } from '../ui/basics/messages.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { Field } from '../ui/forms/field.tsx'
import { pathOfHit } from './hit-path.ts'

/** As the API takes it. */
const CHARACTERS_MAX = 256
/** No question for every letter of a word. */
const PAUSE_MS = 150

export function FindDialog({ onClose }: { onClose(): void }) {
  const { kind } = useSession()
  const id = useId()
  const [text, setText] = useState('')
  const [searched, setSearched] = useState('')
  const [chosen, setChosen] = useState(0)
  const [isGoing, setGoing] = useState(false)
  const typed = text.trim()
  const path = kind === 'operator' ? '/operator/v1/search' : '/v1/search'
  const found = useRead<{ items: readonly SearchHit[] }>(path + toQuery({ q: searched }), {
    isEnabled: searched !== '',
  })
  const isAnswered = searched === typed && found.data !== undefined
  const hits = isAnswered ? found.data.items : []

  useEffect(() => {
    const timer = setTimeout(() => setSearched(typed), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])

  const go = (hit: SearchHit) => {
    onClose()
    navigate(pathOfHit(hit))
    window.scrollTo(0, 0)
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes when the answer is there, once
  useEffect(() => {
    if (!isGoing || !isAnswered) return
    setGoing(false)
    if (hits[0]) go(hits[0])
  }, [isGoing, isAnswered])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && hits.length > 0) {
      event.preventDefault()
      setChosen((chosen + step + hits.length) % hits.length)
    } else if (event.key === 'Enter' && typed !== '') {
      event.preventDefault()
      const hit = hits[chosen]
      if (hit) go(hit)
      else {
        setSearched(typed)
        setGoing(true)
      }
    }
  }

  return (
    <Dialog title="Find anything" onClose={onClose}>
      <Field
        label={LABELS[kind]}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={hits.length > 0}
        aria-controls={`${id}-hits`}
        {...(hits.length > 0 ? { 'aria-activedescendant': `${id}-${chosen}` } : {})}
        autoComplete="off"
        spellCheck={false}
        maxLength={CHARACTERS_MAX}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
          setGoing(false)
        }}
        onKeyDown={onKeyDown}
      />
      {found.error ? <Problem problem={found.error} /> : null}
      {/* The focus stays in the field, which has the keys; the options are for the pointer. */}
      {/* biome-ignore-start lint/a11y/useKeyWithClickEvents: see above */}
      <div className="hits" role="listbox" id={`${id}-hits`} aria-label="Found">
        {hits.map((hit, index) => (
          <div
            key={hit.kind + hit.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="hit"
            onClick={() => go(hit)}
          >
            <Hit of={hit} />
          </div>
        ))}
      </div>
      {/* biome-ignore-end lint/a11y/useKeyWithClickEvents: see above */}
      <p className="muted" role="status">
        {hint(typed, isAnswered ? hits.length : null)}
      </p>
    </Dialog>
  )
}

const LABELS = {
  operator: 'Any id, external id, client, account or address',
  client: 'Any id, external id, account or address',
} as const

function Hit({ of }: { of: SearchHit }) {
  const isClientSaid = of.kind !== 'client' && of.clientName
  return (
    <>
      <span className="hit-kind">{of.kind}</span>
      <span className="break">
        {of.name}
        {isClientSaid ? <span className="muted"> of {of.clientName}</span> : null}
      </span>
      {of.state ? <State of={of.state} /> : null}
    </>
  )
}

function hint(typed: string, count: number | null): string {
  if (typed === '') return 'External ids are found whole, names and addresses by how a word begins.'
  if (count === null) return 'Searching…'
  if (count === 0) return 'Nothing found. An id and an external id are needed whole.'
  return `${count} found. Arrows choose, Enter opens.`
}
