// JSON as a tree, from its text: numbers are shown as they were written, digit for digit.

class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A text that is no JSON is shown as it is. */
export function JsonTree({ text, label = 'Body' }: { text: string; label?: string }) {
  const value = parseExactly(text)
  if (value === undefined) return <pre className="break">{text}</pre>
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's
    <div className="tree" role="group" aria-label={label}>
      <Value value={value} />
    </div>
  )
}

function parseExactly(text: string): unknown {
  // The third argument is newer than the types: the number's own spelling.
  const revive = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new Digits(context?.source ?? String(value)) : value
  try {
    return JSON.parse(text, revive as (this: unknown, key: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
}

/** A member's name stands in the line that opens and closes it. */
function Value({ value, name }: { value: unknown; name?: string }) {
  if (name !== undefined && !isHolder(value)) {
    return (
      <>
        <Name>{name}</Name>
        <Value value={value} />
      </>
    )
  }
  if (value instanceof Digits) return <span className="tree-number">{value.text}</span>
  if (typeof value === 'string') return <span className="tree-string">"{value}"</span>
  if (typeof value !== 'object' || value === null) {
    return <span className="tree-word">{String(value)}</span>
  }
  const entries = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return <span>{open + close}</span>
  return (
    <details open>
      <summary>
        {name === undefined ? null : <Name>{name}</Name>}
        {open}
        <span className="muted">{entries.length}</span>
        {close}
      </summary>
      <ul>
        {entries.map(([member, item]) => (
          <li key={member}>
            <Value value={item} name={member} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function isHolder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Digits) return false
  return Object.keys(value).length > 0
}

function Name({ children }: { children: string }) {
  return (
    <>
      <span className="tree-name">{children}</span>
      {': '}
    </>
  )
}
