// Sends what an endpoint was never owed since an instant, because it is new or gets more kinds than before. For the
// endpoint's owner.

import { Time } from '../../../ui/times/time.tsx'
import { CountThenSend } from './count-then-send.tsx'
import { countMissing, type Missing, sendMissing } from './missing.ts'

export function CatchUp({ path }: { path: string }) {
  return (
    <CountThenSend<Missing>
      title="Missed events"
      about="Sends events from before it was registered, and of kinds that it did not get then."
      since={{ name: 'missing-since', label: 'Created since', daysAgo: 7 }}
      read={(period) => period}
      count={(wanted) => countMissing(path, wanted)}
      send={(wanted) => sendMissing(path, wanted)}
      texts={{
        action: (count) => `Send ${count}`,
        question: (count) => `Send ${count} events?`,
        found: (count) => `${count} would be sent, oldest first.`,
        none: 'Nothing is missing: every event since then has a delivery to this endpoint.',
        sent: (count) => `${count} queued to be sent.`,
      }}
      explain={({ since }) => (
        <p>
          All that were created since <Time at={since} /> and have no delivery to this endpoint,
          because it was not registered yet or did not get their kind. They are marked with{' '}
          <code>X-Paybell-Replay</code>.
        </p>
      )}
    />
  )
}
