// Sends again what an endpoint has missed since an instant: first shows how many, then sends them when
// that is confirmed. A client recovers its endpoint; for the operator it is a bulk replay.

import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { toInputValue, toInstant } from '../../ui/instant.ts'
import { Problem } from '../../ui/messages.tsx'
import { toCountText } from '../../ui/numbers.ts'
import { Panel } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

interface Wanted {
  since: string
  states: readonly string[]
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  EXHAUSTED: ['EXHAUSTED'],
  'EXHAUSTED, CANCELLED': ['EXHAUSTED', 'CANCELLED'],
  'All final states, DELIVERED too': ['EXHAUSTED', 'CANCELLED', 'SUPERSEDED', 'DELIVERED'],
}

export function Recover({ endpointId, path }: { endpointId: string; path: string | null }) {
  const refresh = useRefresh()
  const toast = useToast()
  const [found, setFound] = useState<(Wanted & { count: number }) | null>(null)
  const [isOpen, setOpen] = useState(false)
  const ask = ({ since, states }: Wanted, isDry: boolean) =>
    path === null
      ? api.post<{ wouldReplay?: number; replayed?: number }>('/operator/v1/deliveries/replay', {
          filter: { endpointId, from: since, state: states.join(',') },
          dryRun: isDry,
        })
      : api.post<{ wouldReplay?: number; replayed?: number }>(
          `${path}/recover${isDry ? '?dryRun=true' : ''}`,
          { since, states },
        )
  const preview = useAction((wanted: Wanted) => ask(wanted, true), {
    onDone: ({ wouldReplay = 0 }, wanted) => setFound({ ...wanted, count: wouldReplay }),
  })
  const recover = useAction((wanted: Wanted) => ask(wanted, false), {
    onDone: ({ replayed = 0 }) => {
      setOpen(false)
      setFound(null)
      refresh('/operator/v1/', '/v1/deliveries', '/v1/webhooks')
      toast(`${toCountText(replayed)} queued to be sent again.`)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    preview.mutate({
      since: toInstant(String(form.get('since'))),
      states: CHOICES[String(form.get('states'))] ?? ['EXHAUSTED'],
    })
  }
  const problem = recover.error ?? preview.error
  return (
    <Panel title="Recover missed deliveries">
      <form className="filters is-roomy" onSubmit={submit} onChange={() => setFound(null)}>
        <Field
          name="since"
          label="Since"
          type="datetime-local"
          required
          defaultValue={toInputValue(new Date(Date.now() - 86_400_000).toISOString())}
        />
        <Select name="states" label="With state" options={Object.keys(CHOICES)} />
        <div className="row">
          <Button type="submit" disabled={preview.isPending}>
            Preview
          </Button>
          {found && found.count > 0 ? (
            <Button look="primary" onClick={() => setOpen(true)}>
              Send {toCountText(found.count)} again
            </Button>
          ) : null}
        </div>
      </form>
      <p role="status" className={found ? undefined : 'visually-hidden'}>
        {found
          ? found.count === 0
            ? 'Nothing to recover: no delivery with this state since then.'
            : `${toCountText(found.count)} will be sent again, oldest first.`
          : ''}
      </p>
      {problem ? <Problem problem={problem} /> : null}
      {isOpen && found ? (
        <Confirm
          title={`Send ${toCountText(found.count)} deliveries again?`}
          action={`Send ${toCountText(found.count)} again`}
          isBusy={recover.isPending}
          onConfirm={() => recover.mutate(found)}
          onClose={() => setOpen(false)}
        >
          <p>
            Created since <Time at={found.since} />, with state {found.states.join(', ')}: sent with
            the same body, the same <code>webhook-id</code> and a new run of 7 days.
          </p>
        </Confirm>
      ) : null}
    </Panel>
  )
}
