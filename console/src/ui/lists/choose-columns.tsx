// Which columns of a list are in sight. The first one is always: it leads to what the row is about.

import { useState } from 'react'
import { Button } from '../basics/button.tsx'
import { Dialog } from '../forms/dialog.tsx'
import { withColumn } from './kept.ts'
import { useKept } from './use-kept.ts'

/** `path` is the list's page, which is also the name that they are kept under. */
export function ChooseColumns({ path, heads }: { path: string; heads: readonly string[] }) {
  const [{ hidden }, change] = useKept(path)
  const [isOpen, setOpen] = useState(false)
  const left = heads.filter((head) => hidden.includes(head)).length
  return (
    <>
      <Button isSmall onClick={() => setOpen(true)}>
        {left === 0 ? 'Columns…' : `Columns (${left} hidden)…`}
      </Button>
      {isOpen ? (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <div className="ticks">
            {heads.map((head) => (
              <label key={head}>
                <input
                  type="checkbox"
                  checked={!hidden.includes(head)}
                  onChange={(event) =>
                    change((kept) => withColumn(kept, head, event.target.checked))
                  }
                />
                {head}
              </label>
            ))}
          </div>
          <p className="muted">Kept in this browser, for you alone.</p>
          <div className="dialog-actions">
            <Button look="primary" onClick={() => setOpen(false)}>
              Done
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
