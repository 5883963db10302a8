// A field that narrows a list while one types. What is looked for is in the address, and the list begins at its
// first page again.

import { useEffect, useState } from 'react'
import { useFilters } from '../router.ts'
import { Field } from '../ui/forms/field.tsx'

const PAUSE_MS = 250

export function SearchFilter({ label, placeholder }: { label: string; placeholder: string }) {
  const { query, setFilters } = useFilters()
  const given = query.get('q') ?? ''
  const [text, setText] = useState(given)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address follows what is typed
  useEffect(() => {
    if (text.trim() === given) return
    const timer = setTimeout(() => setFilters({ q: text.trim(), page: null }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  // The address may change by itself: back, or a link to the same page.
  useEffect(() => setText((typed) => (typed.trim() === given ? typed : given)), [given])
  return (
    <Field
      label={label}
      placeholder={placeholder}
      type="search"
      maxLength={256}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
}
