// A run of attempts on the curve that it follows: across, the time since its first attempt up to the
// deadline; up, how long each waits for the next one, doubling from 5 s to 6 h. Both axes are
// logarithmic, because otherwise the first hour, in which most things happen, would be one dot. They
// tell the delivery clock's time: where that runs faster, 7 days are still drawn as 7 days.

import { useEffect, useId, useRef, useState } from 'react'
import { DAY_MS, retryPolicy } from '../../../../server/core/delivery/backoff.ts'
import { useSession } from '../../api/session.ts'
import type { DeliveryAttempt, DeliveryDetail } from '../../api/types.ts'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { Choice } from '../../ui/forms/field.tsx'
import { toDurationText, toTimeText, useNow } from '../../ui/times/time.tsx'
import { useZone } from '../../ui/times/zone.ts'
import { axisTicks, paceOf, planRun, type Run, timeScale, toRuns, waitScale } from './runs.ts'

const HEIGHT = 244
const MARGIN = { top: 44, right: 26, bottom: 34, left: 76 }
const LABEL_APART = 26
const LABELS_MAX = 8

type Policy = ReturnType<typeof retryPolicy>

export function Timeline({ delivery }: { delivery: DeliveryDetail }) {
  const session = useSession()
  useZone()
  const policy = retryPolicy(session.timeScale)
  const runs = runsOf(delivery, policy)
  const [chosen, setChosen] = useState<string | null>(null)
  const index = chosen === null ? runs.length - 1 : Math.min(Number(chosen), runs.length - 1)
  const run = runs[index] as Run<DeliveryAttempt>
  const isCurrent = index === runs.length - 1
  const faster = paceOf(run, session.timeScale)
  const isNext = isCurrent && delivery.state === 'PENDING' && delivery.waitsFor === null
  const next = isNext ? delivery.nextAttemptAt : null
  return (
    <figure className="timeline">
      {runs.length > 1 ? (
        <Choice
          label="Run"
          value={String(index)}
          options={runs.map(
            (_, at) => [String(at), at === 0 ? 'First run' : `Replay ${at}`] as const,
          )}
          onChange={setChosen}
        />
      ) : null}
      <Curve
        run={run}
        faster={faster}
        nextAtMs={next === null ? null : Date.parse(next)}
        isOpen={isCurrent && delivery.state === 'PENDING'}
      />
      <figcaption className="muted">
        A dot is an attempt that got 200, a cross one that did not. The line is the plan: each wait
        doubles, from 5 s to at most 6 h (± 20 %, the band), for 7 days.
        {faster > 1
          ? ` Time runs ${faster} times faster here: 7 days pass in ${toDurationText((7 * DAY_MS) / faster)}.`
          : ''}
      </figcaption>
    </figure>
  )
}

/** A run that has not begun is drawn as if it began when it is due. */
function runsOf(delivery: DeliveryDetail, policy: Policy): Run<DeliveryAttempt>[] {
  const runs = toRuns(delivery.attemptLog, delivery.deadlineAt, policy)
  const hasBegun = delivery.state !== 'PENDING' || delivery.deadlineAt !== null
  if (runs.length > 0 && hasBegun) return runs
  const startMs = Date.parse(delivery.nextAttemptAt ?? delivery.createdAt)
  return [...runs, { attempts: [], startMs, deadlineMs: startMs + policy.runMs }]
}

function Curve({
  run,
  faster,
  nextAtMs,
  isOpen,
}: {
  run: Run<DeliveryAttempt>
  faster: number
  nextAtMs: number | null
  isOpen: boolean
}) {
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const titleId = useId()
  const nowMs = useNow()
  const policy = retryPolicy()
  /** An instant of the wall clock, as time of the delivery clock since the first attempt. */
  const toClockMs = (atMs: number) => (atMs - run.startMs) * faster
  const runMs = toClockMs(run.deadlineMs)
  const scaleX = timeScale(policy.baseMs, runMs)
  const scaleY = waitScale(policy)
  const innerWidth = Math.max(120, width - MARGIN.left - MARGIN.right)
  const innerHeight = HEIGHT - MARGIN.top - MARGIN.bottom
  const x = (ms: number) => MARGIN.left + scaleX(ms) * innerWidth
  const y = (waitMs: number) => MARGIN.top + (1 - scaleY(waitMs)) * innerHeight
  const bottom = MARGIN.top + innerHeight

  const plan = planRun(policy, runMs)
  const waitOf = (number: number) => plan[Math.min(number, plan.length) - 1]?.waitMs ?? policy.capMs
  const line = plan.map(({ atMs, waitMs }) => `${x(atMs)},${y(waitMs)}`)
  const above = plan.map(({ atMs, waitMs }) => `${x(atMs)},${y(waitMs * (1 + policy.jitter))}`)
  const below = plan.map(({ atMs, waitMs }) => `${x(atMs)},${y(waitMs * (1 - policy.jitter))}`)

  const marks = run.attempts.map((attempt, index) => {
    const atMs = Date.parse(attempt.at)
    const after = run.attempts[index + 1]
    const followedMs = after ? Date.parse(after.at) : nextAtMs
    const waitedMs = followedMs === null ? null : followedMs - atMs - attempt.durationMs
    const waitMs = waitedMs === null ? waitOf(index + 1) : waitedMs * faster
    return { attempt, x: x(toClockMs(atMs)), y: y(waitMs) }
  })
  // What is overdue, because the endpoint is being spared, goes at once as soon as it may.
  const nextMs = nextAtMs === null ? null : toClockMs(Math.max(nextAtMs, isOpen ? nowMs : 0))
  const next = nextMs === null ? null : { x: x(nextMs), y: y(waitOf(run.attempts.length + 1)) }
  const reachedMs = nextMs ?? toClockMs(Date.parse(run.attempts.at(-1)?.at ?? ''))
  const left = plan
    .slice(run.attempts.length)
    .filter(({ atMs }) => Number.isNaN(reachedMs) || atMs > reachedMs)
  const labels = spreadLabels(marks)
  const waits = [1, 12, 120, 720, policy.capMs / policy.baseMs].map((by) => by * policy.baseMs)

  return (
    <div ref={frame} className="timeline-frame">
      <svg width={width} height={HEIGHT} role="img" aria-labelledby={titleId}>
        <title id={titleId}>{describe(run, nextAtMs, nowMs)}</title>
        {waits.map((waitMs) => (
          <g key={waitMs} className="axis">
            <line x1={MARGIN.left} x2={MARGIN.left + innerWidth} y1={y(waitMs)} y2={y(waitMs)} />
            <text x={MARGIN.left - 18} y={y(waitMs) + 4} textAnchor="end">
              {toDurationText(waitMs)}
            </text>
          </g>
        ))}
        <text className="axis-name" x={4} y={14}>
          wait for the next attempt
        </text>
        {axisTicks(scaleX, runMs, 64 / innerWidth).map((ms) => (
          <text key={ms} className="axis-text" x={x(ms)} y={bottom + 24} textAnchor="middle">
            {toDurationText(ms)}
          </text>
        ))}
        <text className="axis-text" x={MARGIN.left} y={bottom + 24} textAnchor="middle">
          first
        </text>

        <polygon className="band" points={[...above, ...below.toReversed()].join(' ')} />
        <polyline className="plan" points={line.join(' ')} />
        {left.map(({ number, atMs, waitMs }) => (
          <circle key={number} className="planned" cx={x(atMs)} cy={y(waitMs)} r={2.5} />
        ))}

        <line className="deadline" x1={x(runMs)} x2={x(runMs)} y1={MARGIN.top - 8} y2={bottom} />
        <text className="deadline-text" x={x(runMs)} y={14} textAnchor="end">
          deadline, {toDurationText(runMs)}
        </text>
        {isOpen && run.attempts.length > 0 && nowMs < run.deadlineMs ? (
          <line
            className="now"
            x1={x(toClockMs(nowMs))}
            x2={x(toClockMs(nowMs))}
            y1={MARGIN.top}
            y2={bottom}
          />
        ) : null}

        {marks.map((mark) => (
          <Mark key={`${mark.attempt.attempt}-${mark.attempt.at}`} {...mark} />
        ))}
        {labels.map(({ attempt, x: at, y: height, lift }) => (
          <text
            key={attempt.attempt}
            className={attempt.status === 200 ? 'mark-text good' : 'mark-text bad'}
            x={at}
            y={height + lift}
            textAnchor="middle"
          >
            {attempt.status}
          </text>
        ))}
        {next === null ? null : (
          <>
            <circle className="next" cx={next.x} cy={next.y} r={7} />
            <text
              className="next-text"
              x={next.x + (next.x > width * 0.6 ? -12 : 12)}
              y={next.y + 20}
              textAnchor={next.x > width * 0.6 ? 'end' : 'start'}
            >
              {toCountdown(nextAtMs as number, nowMs)}
            </text>
          </>
        )}
      </svg>
    </div>
  )
}

/** Accepted is a disc, refused a cross, so that they differ without their colours. */
function Mark({ attempt, x, y }: { attempt: DeliveryAttempt; x: number; y: number }) {
  const said = `Attempt ${attempt.attempt}: ${attempt.status ?? toOutcomeText(attempt.error)}, ${toTimeText(new Date(attempt.at))}`
  if (attempt.status === 200) {
    return (
      <circle className="mark good" cx={x} cy={y} r={6}>
        <title>{said}</title>
      </circle>
    )
  }
  return (
    <path className="mark bad" d={`M${x - 5},${y - 5}l10,10M${x + 5},${y - 5}l-10,10`}>
      <title>{said}</title>
    </path>
  )
}

/**
 * Above its mark, or below where there is no room above. Of many that got the same, only the first and
 * the last are labelled: a row of forty says no more than two. Where nothing came back the cross says it all.
 */
function spreadLabels<M extends { x: number; attempt: DeliveryAttempt }>(marks: readonly M[]) {
  const last = marks.at(-1)
  const worth = marks.filter(({ attempt }, index) => {
    const before = marks[index - 1]?.attempt
    const isNews = before?.status !== attempt.status || before.error !== attempt.error
    const isWorth = marks.length <= LABELS_MAX || isNews || index === marks.length - 1
    return isWorth && attempt.status !== null
  })
  const reached = { above: Number.NEGATIVE_INFINITY, below: Number.NEGATIVE_INFINITY }
  return worth.flatMap((mark) => {
    const isLast = mark === last
    const isClearAhead = last === undefined || isLast || last.x - mark.x >= LABEL_APART
    if (isLast || (mark.x - reached.above >= LABEL_APART && isClearAhead)) {
      reached.above = mark.x
      return [{ ...mark, lift: -10 }]
    }
    if (mark.x - reached.below < LABEL_APART) return []
    reached.below = mark.x
    return [{ ...mark, lift: 19 }]
  })
}

function toCountdown(atMs: number, nowMs: number): string {
  return atMs - nowMs < 1_000 ? 'due now' : `next in ${toDurationText(atMs - nowMs)}`
}

function describe(run: Run<DeliveryAttempt>, nextAtMs: number | null, nowMs: number): string {
  const said = run.attempts
    .slice(-12)
    .map(
      ({ attempt, status, error, at }) =>
        `attempt ${attempt}: ${status ?? toOutcomeText(error)}, ${toDurationText(Date.parse(at) - run.startMs)} after the first`,
    )
  const parts = [
    run.attempts.length === 0 ? 'No attempt yet' : `Timeline of ${run.attempts.length} attempts`,
    ...said,
    ...(nextAtMs === null ? [] : [toCountdown(nextAtMs, nowMs)]),
    `deadline ${toTimeText(new Date(run.deadlineMs))}`,
  ]
  return `${parts.join('; ')}.`
}

function useWidth(frame: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [frame])
  return width
}
