// How fast the delivery clock runs, and how to start a sandbox whose 7 days are over in a minute.

import { useSession } from '../../api/session.ts'
import { Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { toDurationText } from '../../ui/times/time.tsx'

const WEEK_MS = 7 * 86_400_000
const FIRST_DELAY_MS = 5_000

export function Clock() {
  const { timeScale } = useSession()
  return (
    <Panel title="Clock">
      <p>
        <strong>{toCountText(timeScale)} ×</strong>: 7 days pass in{' '}
        {toDurationText(WEEK_MS / timeScale)}, the first retry comes after{' '}
        {toDurationText(FIRST_DELAY_MS / timeScale)}
      </p>
      <p className="field-hint">
        Set when the sandbox starts: <code>PAYBELL_TIME_SCALE=10000 npm start</code> lets 7 days
        pass in a minute.
      </p>
    </Panel>
  )
}
