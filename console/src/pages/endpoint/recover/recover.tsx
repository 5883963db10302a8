// Sends again what an endpoint has missed since an instant. A client recovers its endpoint; for the operator it is a
// bulk replay.

import { api } from '../../../api/client.ts'
import { Select } from '../../../ui/forms/field.tsx'
import { Time } from '../../../ui/times/time.tsx'
import { CountThenSend, type Period } from './count-then-send.tsx'

interface Wanted extends Period {
  states: readonly string[]
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  EXHAUSTED: ['EXHAUSTED'],
  'EXHAUSTED or CANCELLED': ['EXHAUSTED', 'CANCELLED'],
  'Any final state': ['EXHAUSTED', 'CANCELLED', 'SUPERSEDED', 'DELIVERED'],
}

export function Recover({ endpointId, path }: { endpointId: string; path: string | null }) {
  const ask = ({ states, ...period }: Wanted, isDry: boolean) =>
    path === null
      ? api.post<{ wouldReplay?: number; replayed?: number }>('/operator/v1/deliveries/replay', {
          filter: { endpointId, from: period.since, to: period.until, state: states.join(',') },
          dryRun: isDry,
        })
      : api.post<{ wouldReplay?: number; replayed?: number }>(
          `${path}/recover${isDry ? '?dryRun=true' : ''}`,
          { ...period, states },
        )
  return (
    <CountThenSend<Wanted>
      title="Recover missed deliveries"
      about="Sends deliveries that have ended again, with the same body and webhook-id."
      since={{ name: 'since', label: 'Since', daysAgo: 1 }}
      controls={<Select name="states" label="With state" options={Object.keys(CHOICES)} />}
      read={(period, form) => ({
        ...period,
        states: CHOICES[String(form.get('states'))] ?? ['EXHAUSTED'],
      })}
      count={(wanted) => ask(wanted, true).then(({ wouldReplay = 0 }) => wouldReplay)}
      send={(wanted) => ask(wanted, false).then(({ replayed = 0 }) => replayed)}
      texts={{
        action: (count) => `Send ${count} again`,
        question: (count) => `Send ${count} deliveries again?`,
        found: (count) => `${count} will be sent again, oldest first.`,
        none: 'Nothing to recover: no delivery with this state since then.',
        sent: (count) => `${count} queued to be sent again.`,
      }}
      explain={({ since, states }) => (
        <p>
          Created since <Time at={since} />, with state {states.join(', ')}: sent with the same
          body, the same <code>webhook-id</code> and a new run of 7 days.
        </p>
      )}
    />
  )
}
