// The last 31 days of an endpoint, an hour a cell: complete, open, or with deliveries that were given up. Counted when
// it is asked for, because the first count of a busy month takes its time. A click shows the hour.

import { useState } from 'react'
import { type ApiProblem, api } from '../../../api/client.ts'
import { useAction } from '../../../api/hooks.ts'
import type { Statement, StatementHour } from '../../../api/types.ts'
import { Button } from '../../../ui/basics/button.tsx'
import { Loading, Problem } from '../../../ui/basics/messages.tsx'
import { Panel } from '../../../ui/basics/page.tsx'
import { toCountText } from '../../../ui/lists/numbers.ts'
import { StatementHourDetail } from './statement-hour.tsx'
import './statement.css'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = 31
/** What is always kept, if history is kept for 30 days. */
const DAYS_KEPT = 29

type Look = 'empty' | 'complete' | 'open' | 'lost'

const NAMES: Readonly<Record<Look, string>> = {
  empty: 'nothing',
  complete: 'complete',
  open: 'open',
  lost: 'with exhausted ones',
}

export function StatementPanel({ endpointId, path }: { endpointId: string; path: string | null }) {
  const base = path ?? `/operator/v1/endpoints/${endpointId}`
  const [hour, setHour] = useState<StatementHour | null>(null)
  const read = useAction<void, Statement>(() => readStatement(base), {
    onDone: ({ hours }) => setHour((old) => hours.find(({ from }) => from === old?.from) ?? null),
  })
  const statement = read.data
  return (
    <Panel
      title="Statement of the last 31 days"
      aside={
        <Button isSmall disabled={read.isPending} onClick={() => read.mutate()}>
          {statement ? 'Check again' : 'Check that nothing is missing'}
        </Button>
      }
    >
      {read.isPending ? <Loading /> : null}
      {read.error ? <Problem problem={read.error} /> : null}
      {statement ? (
        <>
          <p role="status">{summaryOf(statement)}</p>
          <Calendar statement={statement} chosen={hour} onChoose={setHour} />
          <Legend />
          {hour ? (
            <StatementHourDetail
              key={hour.from}
              hour={hour}
              endpointId={endpointId}
              path={path}
              onRecovered={() => read.mutate()}
            />
          ) : null}
        </>
      ) : (
        <p className="muted">
          How many events it had to get and got, hour by hour, signed: compare it with what{' '}
          {path === null ? 'its' : 'your'} receiver has.
        </p>
      )}
    </Panel>
  )
}

/** Whole days, today included; fewer where the oldest is no longer kept. */
async function readStatement(base: string): Promise<Statement> {
  const toMs = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const ask = (days: number) => {
    const from = new Date(todayMs - (days - 1) * DAY_MS).toISOString()
    return api.get<Statement>(`${base}/statement?from=${from}&to=${new Date(toMs).toISOString()}`)
  }
  try {
    return await ask(DAYS)
  } catch (error) {
    const isGone = (error as ApiProblem).fields?.some(({ code }) => code === 'no-longer-kept')
    if (!isGone) throw error
    return ask(DAYS_KEPT)
  }
}

function summaryOf({ owed, delivered, exhausted, pending, superseded, cancelled }: Statement) {
  const parts = [`${toCountText(delivered)} of ${toCountText(owed)} delivered`]
  if (exhausted > 0) parts.push(`${toCountText(exhausted)} exhausted`)
  if (pending > 0) parts.push(`${toCountText(pending)} pending`)
  if (superseded > 0) parts.push(`${toCountText(superseded)} superseded`)
  if (cancelled > 0) parts.push(`${toCountText(cancelled)} cancelled`)
  return `${parts.join(', ')}.`
}

function lookOf({ owed, exhausted, isFinal }: StatementHour): Look {
  if (exhausted > 0) return 'lost'
  if (!isFinal) return 'open'
  return owed === 0 ? 'empty' : 'complete'
}

/** The newest day first; in UTC, as statements are. */
function Calendar({
  statement,
  chosen,
  onChoose,
}: {
  statement: Statement
  chosen: StatementHour | null
  onChoose(hour: StatementHour): void
}) {
  const days = [...Map.groupBy(statement.hours, ({ from }) => from.slice(0, 10))].reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys
    <section className="calendar-scroll" tabIndex={0} aria-label="Calendar of hours">
      <table className="calendar">
        <caption className="visually-hidden">Hours in UTC, a day each row</caption>
        <thead>
          <tr>
            <th scope="col">UTC</th>
            {Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0')).map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(([day, hours]) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {hours.map((hour) => (
                <Cell
                  key={hour.from}
                  hour={hour}
                  isChosen={hour.from === chosen?.from}
                  onChoose={onChoose}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell({
  hour,
  isChosen,
  onChoose,
}: {
  hour: StatementHour
  isChosen: boolean
  onChoose(hour: StatementHour): void
}) {
  const look = lookOf(hour)
  const label = `${hour.from.slice(0, 10)} ${hour.from.slice(11, 16)}: ${NAMES[look]}, ${hour.delivered} of ${hour.owed} delivered`
  // Hours without events are no buttons: most of a month has nothing to show.
  if (hour.owed === 0) {
    return (
      <td>
        <span className={`hour is-${look}`} title={label} />
      </td>
    )
  }
  return (
    <td>
      <button
        type="button"
        className={`hour is-${look}`}
        title={label}
        aria-label={label}
        aria-pressed={isChosen}
        onClick={() => onChoose(hour)}
      />
    </td>
  )
}

function Legend() {
  return (
    <p className="row calendar-legend muted">
      {(['complete', 'open', 'lost', 'empty'] as const).map((look) => (
        <span key={look} className="row">
          <span className={`hour is-${look}`} aria-hidden="true" /> {NAMES[look]}
        </span>
      ))}
    </p>
  )
}
