// Sends what an endpoint was never owed since an instant, because it is new or gets more kinds than before: first shows
// how many, then sends them when that is confirmed. For the endpoint's owner.

import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { toInputValue, toInstant } from '../../ui/instant.ts'
import { Problem } from '../../ui/messages.tsx'
import { toCountText } from '../../ui/numbers.ts'
import { Panel } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { useCountMissing, useSendMissing, weekAgo } from './use-missing.ts'

export function CatchUp({ path }: { path: string }) {
  const [found, setFound] = useState<{ since: string; count: number } | null>(null)
  const [isOpen, setOpen] = useState(false)
  const preview = useCountMissing(path, (count, { since }) => setFound({ since, count }))
  const send = useSendMissing(path, () => {
    setOpen(false)
    setFound(null)
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const since = String(new FormData(event.currentTarget).get('missing-since'))
    preview.mutate({ since: toInstant(since) })
  }
  const problem = send.error ?? preview.error
  return (
    <Panel title="Events it never got">
      <form className="filters is-roomy" onSubmit={submit} onChange={() => setFound(null)}>
        <Field
          name="missing-since"
          label="Made since"
          type="datetime-local"
          required
          defaultValue={toInputValue(weekAgo())}
        />
        <div className="row">
          <Button type="submit" disabled={preview.isPending}>
            Preview
          </Button>
          {found && found.count > 0 ? (
            <Button look="primary" onClick={() => setOpen(true)}>
              Send {toCountText(found.count)}
            </Button>
          ) : null}
        </div>
      </form>
      <p role="status" className={found ? undefined : 'visually-hidden'}>
        {found
          ? found.count === 0
            ? 'Nothing is missing: every event since then was owed to this endpoint.'
            : `${toCountText(found.count)} would be sent, oldest first.`
          : ''}
      </p>
      {problem ? <Problem problem={problem} /> : null}
      {isOpen && found ? (
        <Confirm
          title={`Send ${toCountText(found.count)} events?`}
          action={`Send ${toCountText(found.count)}`}
          isBusy={send.isPending}
          onConfirm={() => send.mutate({ since: found.since })}
          onClose={() => setOpen(false)}
        >
          <p>
            All that were made since <Time at={found.since} /> and were never owed to this endpoint,
            because it was not registered yet or did not get their kind. They are marked with{' '}
            <code>X-Paybell-Replay</code>.
          </p>
        </Confirm>
      ) : null}
    </Panel>
  )
}
