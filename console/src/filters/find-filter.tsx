// A filter by a client, an account or an endpoint, found by its name or address; an id can be pasted, too.

import { useEffect, useState } from 'react'
import { Combobox } from '../ui/forms/combobox.tsx'
import { type Source, useNameOf, useOptions } from './sources.ts'

/** No question for every letter of a word. */
const PAUSE_MS = 150

const WORDS: Readonly<Record<Source, { label: string; placeholder: string }>> = {
  client: { label: 'Client', placeholder: 'All clients' },
  account: { label: 'Account', placeholder: 'All accounts' },
  endpoint: { label: 'Endpoint', placeholder: 'All endpoints' },
}

export function FindFilter({
  of,
  value,
  onChange,
  ...words
}: {
  of: Source
  /** In place of those of a filter. */
  label?: string
  placeholder?: string
  value: string
  onChange(id: string): void
}) {
  const [text, setText] = useState<string | null>(null)
  const [searched, setSearched] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), text === null ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { options, isAnswered } = useOptions(of, searched)
  return (
    <Combobox
      {...WORDS[of]}
      {...words}
      value={value}
      name={useNameOf(of, value)}
      text={text}
      options={options}
      isAnswered={isAnswered && searched === text}
      onType={setText}
      onChoose={onChange}
    />
  )
}
