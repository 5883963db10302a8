// The filters of a list that were saved under a name, as links, and a way to save the one that is set.

import { useState } from 'react'
import { Button } from '../basics/button.tsx'
import { Link } from '../basics/link.tsx'
import { Field } from '../forms/field.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NAME_CHARACTERS_MAX, SAVED_MAX, withoutSaved, withSaved } from './kept.ts'
import { useKept } from './use-kept.ts'

/** `path` is the list's page, which is also the name that they are kept under; `query` the filter that is set. */
export function SavedFilters({ path, query }: { path: string; query: string }) {
  const [{ saved }, change] = useKept(path)
  const [isNaming, setNaming] = useState(false)
  const canSave = query !== '' && saved.every((one) => one.query !== query)
  if (saved.length === 0 && !canSave) return null
  return (
    <div className="row">
      {saved.length === 0 ? null : <span className="muted">Saved</span>}
      {saved.length === 0 ? null : (
        <ul className="chips" aria-label="Saved filters">
          {saved.map((one) => (
            <li key={one.name} className="chip">
              <Link to={path + one.query} aria-current={one.query === query ? 'page' : undefined}>
                {one.name}
              </Link>
              <button
                type="button"
                aria-label={`Delete the saved filter ${one.name}`}
                onClick={() => change((kept) => withoutSaved(kept, one))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {canSave ? (
        <Button
          isSmall
          disabled={saved.length >= SAVED_MAX}
          title={saved.length >= SAVED_MAX ? `${SAVED_MAX} are saved: delete one first` : undefined}
          onClick={() => setNaming(true)}
        >
          Save this filter…
        </Button>
      ) : null}
      {isNaming ? (
        <FormDialog
          title="Save this filter"
          action="Save"
          sending={{ error: null, isPending: false }}
          onSubmit={(form) => {
            const name = String(form.get('name')).trim()
            change((kept) => withSaved(kept, { name, query }))
            setNaming(false)
          }}
          onClose={() => setNaming(false)}
        >
          <Field
            name="name"
            label="Name"
            required
            pattern=".*\S.*"
            maxLength={NAME_CHARACTERS_MAX}
            hint="Kept in this browser, for you alone. One of the same name is replaced."
          />
        </FormDialog>
      ) : null}
    </div>
  )
}
