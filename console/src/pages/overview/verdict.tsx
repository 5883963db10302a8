// One sentence on whether the service is well, for an operator who was woken at night.

import type { Stats, StatsPeriod } from '../../api/types.ts'
import { Link } from '../../ui/basics/link.tsx'
import { Notice } from '../../ui/basics/messages.tsx'
import { toCountText, toShareText } from '../../ui/lists/numbers.ts'
import { toDurationText } from '../../ui/times/time.tsx'
import { PERIOD_WORDS, sumUp } from './numbers.ts'

/** Older than this, what is due is late: attempts themselves take 15 seconds at most. */
const LATE_SECONDS = 60

export function Verdict({ stats, period }: { stats: Stats; period: StatsPeriod }) {
  const { title, tone, text, hasFailing } = judge(stats, period)
  return (
    <Notice tone={tone} title={title}>
      {text}
      {hasFailing ? (
        <>
          {' '}
          <Link to="/endpoints?failing=true">See what fails</Link>
        </>
      ) : null}
    </Notice>
  )
}

function judge(stats: Stats, period: StatsPeriod) {
  const { troubled, oldestDueAgeSeconds, pending } = stats
  if (stats.processes.length === 0) {
    return {
      tone: 'bad' as const,
      title: 'No process is delivering',
      text: 'Accepted changes are stored, and sent when a process starts.',
    }
  }
  const held = troubled.reduce((sum, endpoint) => sum + endpoint.pending, 0)
  // Deliveries that wait for a failing endpoint are not late; a sentence below is about them.
  if (oldestDueAgeSeconds > LATE_SECONDS && pending.due > held) {
    return {
      tone: 'bad' as const,
      title: `Deliveries are late by ${toDurationText(oldestDueAgeSeconds * 1_000)}`,
      text: `${toCountText(pending.due)} are due. More processes, or a faster database, would help.`,
    }
  }
  const { failing, disabled } = stats.endpoints
  if (failing + disabled > 0) {
    const all = failing + disabled + stats.endpoints.healthy + stats.endpoints.paused
    return {
      tone: 'warn' as const,
      title: `${toCountText(failing + disabled)} of ${plural(all, 'endpoint', 'endpoints')} ${disabled === 0 ? 'failing' : 'failing or disabled'}`,
      text: `${plural(held, 'delivery waits', 'deliveries wait')} for ${troubled.length === 20 ? 'the first 20 of them' : failing + disabled === 1 ? 'it' : 'them'}${failingFor(stats)}.`,
      hasFailing: true,
    }
  }
  const { attempts, successRate } = sumUp(stats)
  return {
    tone: 'good' as const,
    title: 'Callbacks are being delivered',
    text:
      attempts === 0
        ? `Nothing was sent in ${PERIOD_WORDS[period]}, and nothing is late.`
        : `${toShareText(successRate)} of ${plural(attempts, 'attempt', 'attempts')} in ${PERIOD_WORDS[period]} succeeded, and nothing is late.`,
  }
}

function failingFor({ troubled, at }: Stats): string {
  const since = troubled.flatMap(({ failingSince }) =>
    failingSince === null ? [] : [failingSince],
  )
  const [oldest] = since.toSorted()
  if (oldest === undefined) return ''
  return `; failing for ${toDurationText(Date.parse(at) - Date.parse(oldest))}`
}

function plural(count: number, one: string, many: string): string {
  return `${toCountText(count)} ${count === 1 ? one : many}`
}
