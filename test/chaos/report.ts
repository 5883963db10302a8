// What is printed: the figures, the verdict, and for each violation what happened around it.

import type { RunRecord, Violation } from '../simulator/records.ts'
import type { ChaosResult } from './run.ts'

/** Of each invariant. */
const SHOWN_MAX = 3
const AROUND_MS = 4_000

export function describe(result: ChaosResult): string {
  const { verdict, suite, seed, faults, control, run } = result
  const lines = [`chaos ${suite.name}, seed ${seed}, ${Math.round(result.tookMs / 1_000)} s`]
  lines.push(...table(Object.entries(verdict.figures)))
  lines.push('acknowledged, by feed:', ...table([...result.feeds]))
  lines.push('faults:', ...table([...faults]), 'owners’ acts:', ...table([...control]))
  lines.push(`  ${'refused or failed calls, repeated'.padEnd(32)} ${result.refusals}`)
  lines.push(
    `after a kill, other faults among it, a shard was taken: ${spread(verdict.rescue.takenMs)}`,
    `after a kill alone, its next request: ${spread(verdict.rescue.sentMs)}`,
  )
  lines.push(`drained in ${result.drainedInMs} ms after the last fault`)
  const { violations } = verdict
  if (violations.length === 0) return [...lines, 'verdict: 0 violations'].join('\n')
  lines.push(`verdict: ${violations.length} VIOLATIONS`, ...table(counted(violations)))
  const groups = Map.groupBy(violations, ({ invariant }) => invariant).values()
  for (const violation of groups.flatMap((of) => of.slice(0, SHOWN_MAX))) {
    lines.push(
      '',
      `${violation.invariant} ${violation.detail}`,
      ...timeline(run, violation, result),
    )
  }
  lines.push('', `repeat: npm run chaos -- ${result.repeatWith}`)
  return lines.join('\n')
}

function table(rows: readonly (readonly [string, number])[]): string[] {
  return rows.map(([what, count]) => `  ${what.padEnd(32)} ${count}`)
}

function counted(violations: readonly Violation[]): [string, number][] {
  const groups = Map.groupBy(violations, ({ invariant }) => invariant)
  return [...groups].map(([invariant, of]) => [invariant, of.length])
}

/** Of times in milliseconds: the middle, nearly the last, and the last. */
export function spread(ms: readonly number[]): string {
  if (ms.length === 0) return '–'
  const sorted = ms.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms (${ms.length})`
}

/** Everything about that payment at that endpoint, and what the nemesis did at the time. */
function timeline(run: RunRecord, violation: Violation, result: ChaosResult): string[] {
  const { endpointId, paymentId, atMs } = violation
  const entries: [atMs: number, text: string][] = []
  const requests = run.requests.filter(
    (request) => request.endpointId === endpointId && request.paymentId === paymentId,
  )
  for (const request of requests) {
    const { sequence, attempt, status, answeredAtMs, startedAtMs, node } = request
    const tookMs = (answeredAtMs ?? startedAtMs) - startedAtMs
    const heard = request.wasAnswerHeard ? '' : ', not heard'
    const path = result.paths.get(request.endpointId)
    const text = `${path} update ${sequence} attempt ${attempt || '(no row)'} from ${node}: ${status ?? 'nothing'} after ${tookMs} ms${heard}`
    entries.push([startedAtMs, text])
  }
  const own = run.deliveries.filter(
    (delivery) => delivery.endpointId === endpointId && delivery.paymentId === paymentId,
  )
  for (const { id, sequence } of own) {
    for (const { state, atMs: at } of run.finals.filter(({ deliveryId }) => deliveryId === id)) {
      entries.push([at, `update ${sequence} is ${state}`])
    }
    for (const row of run.attempts.filter(({ deliveryId }) => deliveryId === id)) {
      const text = `row: update ${sequence} attempt ${row.attempt} ${row.outcome} ${row.status}`
      entries.push([row.atMs, text])
    }
  }
  for (const act of run.endpoints.find(({ id }) => id === endpointId)?.acts ?? []) {
    if (act.node !== null) {
      entries.push([act.askedAtMs, `owner asks: ${act.kind} ${act.keyName ?? ''}`])
    }
    entries.push([act.appliedAtMs, `holds: ${act.kind}`])
    if (act.acknowledgedAtMs) entries.push([act.acknowledgedAtMs, `acknowledged: ${act.kind}`])
  }
  // Without a moment: all that is known of the payment, and the end of the faults.
  const centre = atMs ?? entries.toSorted(([one], [other]) => other - one)[0]?.[0] ?? run.endedAtMs
  const around = atMs === null ? 4 * AROUND_MS : AROUND_MS
  for (const { shard, epoch, owner, atMs: at } of run.leases) {
    if (shard === result.shards.get(endpointId ?? '')) {
      entries.push([at, `shard ${shard} taken by ${owner}, epoch ${epoch}`])
    }
  }
  for (const { atMs: at, text } of result.notes) entries.push([at, `— ${text}`])
  return entries
    .filter(([at]) => Math.abs(at - centre) < around)
    .sort(([one], [other]) => one - other)
    .map(([at, text]) => `  ${new Date(at).toISOString().slice(11, 23)} ${text}`)
}
