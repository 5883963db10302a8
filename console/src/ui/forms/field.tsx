// Labelled controls. What is wrong with a value is said beside it and read out with it.

import { type ComponentProps, type ReactNode, useId } from 'react'

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
}

export function Field({
  label,
  hint,
  error,
  className,
  ...rest
}: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className={`field ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <input id={id} className="input" {...describe(id, hint, error)} {...rest} />
      <Notes id={id} hint={hint} error={error} />
    </div>
  )
}

export function Area({
  label,
  hint,
  error,
  className,
  ...rest
}: FieldProps & ComponentProps<'textarea'>) {
  const id = useId()
  return (
    <div className={`field ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input"
        spellCheck={false}
        {...describe(id, hint, error)}
        {...rest}
      />
      <Notes id={id} hint={hint} error={error} />
    </div>
  )
}

export function Select({
  label,
  hint,
  error,
  options,
  className,
  ...rest
}: FieldProps &
  Omit<ComponentProps<'select'>, 'children'> & {
    /** `['', 'All']` or just the value. */
    options: readonly (string | readonly [value: string, text: string])[]
  }) {
  const id = useId()
  return (
    <div className={`field ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" {...describe(id, hint, error)} {...rest}>
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={value} value={value}>
              {text}
            </option>
          )
        })}
      </select>
      <Notes id={id} hint={hint} error={error} />
    </div>
  )
}

/** One of a few, all of them visible. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: T
  options: readonly (readonly [value: T, text: string])[]
  onChange(value: T): void
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend with it
    <div className="choice" role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

function describe(id: string, hint: ReactNode, error: string | undefined) {
  const ids = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return {
    ...(ids === '' ? {} : { 'aria-describedby': ids }),
    ...(error ? { 'aria-invalid': true } : {}),
  }
}

function Notes({ id, hint, error }: { id: string; hint: ReactNode; error: string | undefined }) {
  return (
    <>
      {error ? (
        <span className="field-error" id={`${id}-error`}>
          {error}
        </span>
      ) : null}
      {hint ? (
        <span className="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
    </>
  )
}
