// One of many, found by typing: the options come from a search. Arrows choose, Enter takes, Escape leaves it as
// it was; Enter before the answer has come takes the first that it brings. What is chosen is shown by its name.

import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { Field } from './field.tsx'
import './combobox.css'

export interface Option {
  id: string
  name: string
  /** What tells two of one name apart. */
  note?: string
}

export function Combobox({
  label,
  placeholder,
  value,
  name,
  text,
  options,
  isAnswered,
  onType,
  onChoose,
}: {
  label: string
  placeholder: string
  /** The id that is chosen, or nothing. */
  value: string
  /** Its name. */
  name: string
  /** What is being typed; null while nothing is. */
  text: string | null
  options: readonly Option[]
  /** The options are what was found for this very text. */
  isAnswered: boolean
  onType(text: string | null): void
  onChoose(id: string): void
}) {
  const id = useId()
  const [chosen, setChosen] = useState(0)
  const [isTaking, setTaking] = useState(false)
  const isOpen = text !== null && options.length > 0

  const choose = (option: string) => {
    onType(null)
    onChoose(option)
  }
  const stop = () => {
    setTaking(false)
    onType(null)
  }
  const leave = () => {
    if (text?.trim() === '' && value !== '') onChoose('')
    stop()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it takes when the answer is there, once
  useEffect(() => {
    if (!isTaking || !isAnswered) return
    setTaking(false)
    if (options[0]) choose(options[0].id)
  }, [isTaking, isAnswered])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (text === null) onType('')
      else if (isOpen) setChosen((chosen + step + options.length) % options.length)
    } else if (event.key === 'Enter' && text?.trim() && !isAnswered) {
      // What is listed was found for another text.
      event.preventDefault()
      setTaking(true)
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault()
      choose(options[Math.min(chosen, options.length - 1)]?.id ?? '')
    } else if (event.key === 'Escape' && text !== null) {
      event.preventDefault()
      stop()
    }
  }

  return (
    <div className="combobox">
      <Field
        label={label}
        placeholder={placeholder}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-options`}
        {...(isOpen ? { 'aria-activedescendant': `${id}-${chosen}` } : {})}
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        value={text ?? name}
        title={name}
        onFocus={(event) => event.target.select()}
        onClick={() => {
          if (text === null && value === '') onType('')
        }}
        onChange={(event) => {
          setChosen(0)
          setTaking(false)
          onType(event.target.value)
        }}
        onBlur={leave}
        onKeyDown={onKeyDown}
      />
      {/* The focus stays in the field, which has the keys; the options are for the pointer. */}
      {/* biome-ignore-start lint/a11y/useKeyWithClickEvents: see above */}
      <div
        className="combobox-options"
        role="listbox"
        id={`${id}-options`}
        aria-label={label}
        hidden={!isOpen}
      >
        {options.map((option, index) => (
          <div
            key={option.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            // Before the field loses the focus, which would close the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(option.id)}
          >
            <span className="break">{option.name}</span>
            {option.note ? <span className="muted break">{option.note}</span> : null}
          </div>
        ))}
      </div>
      {/* biome-ignore-end lint/a11y/useKeyWithClickEvents: see above */}
    </div>
  )
}
