// Retry, replay or cancel all that the filter finds, not only the page in sight: first the number, then the
// question, then a job that can be watched.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiProblem, api, send } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { navigate } from '../../router.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { Confirm, Dialog } from '../../ui/forms/dialog.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { Time } from '../../ui/times/time.tsx'
import { type Breakdown, ByEndpoint } from '../jobs/by-endpoint.tsx'
import { type Filter, LABELS, statesOf, toAskedFilter, toFilterText, toQuery } from './filter.ts'

type Verb = 'retry' | 'replay' | 'cancel'

interface Preview extends Partial<Breakdown> {
  wouldRetry?: number
  wouldReplay?: number
  wouldCancel?: number
}

interface Words {
  name: string
  /** After the number. */
  meaning: string
  nothing: string
}

const WORDS: Readonly<Record<Verb, Words>> = {
  retry: {
    name: 'Retry',
    meaning:
      'that are pending are sent now, each payment’s older updates first. Those of endpoints that are not active keep waiting.',
    nothing: 'No pending delivery of an active endpoint matches this filter.',
  },
  replay: {
    name: 'Replay',
    meaning:
      'that have ended are sent again, oldest first: same body, same webhook-id, a new run of 7 days each.',
    nothing: 'No ended delivery matches this filter.',
  },
  cancel: {
    name: 'Cancel',
    meaning: 'that are pending get no further attempt. They can be replayed later.',
    nothing: 'No pending delivery matches this filter.',
  },
}

export function BulkActions({ filter }: { filter: Filter }) {
  const [verb, setVerb] = useState<Verb | null>(null)
  return (
    <>
      <Button isSmall onClick={() => setVerb('retry')}>
        Retry all that match…
      </Button>
      <Button isSmall onClick={() => setVerb('replay')}>
        Replay all that match…
      </Button>
      <Button isSmall onClick={() => setVerb('cancel')}>
        Cancel all that match…
      </Button>
      {verb === null ? null : (
        <BulkDialog verb={verb} filter={filter} onClose={() => setVerb(null)} />
      )}
    </>
  )
}

/** The id of the job that was begun: the answer's Location ends in it. */
async function start(path: string, filter: unknown): Promise<string> {
  const answer = await send('POST', path, { body: { filter } })
  return answer.headers.get('location')?.split('/').at(-1) ?? ''
}

function BulkDialog({ verb, filter, onClose }: { verb: Verb; filter: Filter; onClose(): void }) {
  const refresh = useRefresh()
  // Fixed when the question is asked: "the last hour" must not move between the count and the action.
  const [counted] = useState(() => toAskedFilter(filter, Date.now()))
  const path = `/operator/v1/deliveries/${verb}`
  const preview = useQuery<Preview, ApiProblem>({
    queryKey: [path, 'dry-run', counted],
    queryFn: () => api.post(`${path}?byEndpoint=true`, { filter: counted, dryRun: true }),
    staleTime: 0,
    gcTime: 0,
  })
  const act = useAction<void, string>(() => start(path, counted), {
    onDone: (job) => {
      onClose()
      navigate(`/deliveries${toQuery({ ...filter, job })}`)
      refresh('/operator/v1/deliveries')
    },
  })
  const { wouldRetry, wouldReplay, wouldCancel } = preview.data ?? {}
  const count = wouldRetry ?? wouldReplay ?? wouldCancel
  const { name, meaning, nothing } = WORDS[verb]
  const title = `${name} all deliveries that match`
  if (count === undefined || count === 0) {
    return (
      <Dialog title={title} onClose={onClose}>
        {preview.error ? <Problem problem={preview.error} /> : null}
        {preview.isPending ? <Loading what="Counting…" /> : null}
        {count === 0 ? <p>{nothing}</p> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    )
  }
  const many = `${toCountText(count)} ${count === 1 ? 'delivery' : 'deliveries'}`
  return (
    <Confirm
      title={title}
      action={`${name} ${many}`}
      isDanger={verb === 'cancel'}
      dismiss={verb === 'cancel' ? 'Keep them' : 'Cancel'}
      isBusy={act.isPending}
      isWide
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      <p>
        <strong className="bulk-count">{many}</strong> {meaning}
      </p>
      <Meaning filter={filter} />
      {filter.to === '' && counted.to !== undefined ? (
        <p className="muted">
          Created before <Time at={counted.to} />.
        </p>
      ) : null}
      {preview.data?.endpoints ? (
        <ByEndpoint
          endpoints={preview.data.endpoints}
          moreEndpoints={preview.data.moreEndpoints ?? 0}
        />
      ) : null}
      {verb === 'replay' && includesDelivered(filter) ? (
        <Notice tone="warn" title="Accepted ones too">
          The filter does not leave out DELIVERED: receivers would see those again, marked{' '}
          <code>X-Paybell-Replay: true</code>.
        </Notice>
      ) : null}
      {act.error ? <Problem problem={act.error} /> : null}
    </Confirm>
  )
}

function includesDelivered(filter: Filter): boolean {
  const states = statesOf(filter)
  return states.length === 0 || states.includes('DELIVERED')
}

function Meaning({ filter }: { filter: Filter }) {
  const set = (Object.keys(LABELS) as (keyof Filter)[]).filter((name) => filter[name] !== '')
  return (
    <dl className="facts">
      {set.map((name) => (
        <div key={name} className="contents">
          <dt>{LABELS[name]}</dt>
          <dd>{toFilterText(filter, name)}</dd>
        </div>
      ))}
    </dl>
  )
}
