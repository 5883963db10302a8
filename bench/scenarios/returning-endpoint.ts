// An endpoint that was paused comes back to a backlog of 100,000. It is drained, and no other endpoint waits.

import { Child } from '../harness/child.ts'
import type { Fed } from '../harness/generator.ts'
import { aimAt, limitsOf, measureFeed, untilSettled } from '../harness/measure.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { isSettled, type RunningPaybell } from '../paybell/system.ts'
import { number } from '../report/text.ts'
import { ClientCalls } from './client-calls.ts'
import type { Scenario } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const PER_SECOND = 300

export const returningEndpoint: Scenario = {
  name: 'returning-endpoint',
  measure: (options) =>
    withPaybell({ endpoints: options.endpoints, apart: 1 }, async (stage, paybell) => {
      const backlog = options.isTrial ? 3_000 : 100_000
      const [returning] = paybell.prepared.endpoints
      if (returning === undefined) throw new Error('no endpoint')
      const others: RunningPaybell = {
        ...paybell,
        accountIds: paybell.accountIds.slice(1),
        isSettled: () => isSettled(paybell.database, [returning.id]),
      }
      const calls = await ClientCalls.login(paybell)
      const filler = new Child(new URL('../harness/generator.ts', import.meta.url))
      try {
        // Its callbacks carry numbers of their own, which must not be taken for the others'.
        await stage.behave([returning.path], 'uncounted')
        await aimAt(stage, others, options.seed)
        await stage.feed(limitsOf('batch', options.warmUpSeconds))
        await untilSettled(stage, others)
        const good = await measureFeed(stage, others, () =>
          stage.feedOpen({ seconds: options.seconds, perSecond: PER_SECOND }),
        )
        await calls.setStatus(returning, 'PAUSED')
        const { baseUrl, operatorKey } = paybell
        const accountIds = [returning.accountId]
        await filler.call('aim', { baseUrl, operatorKey, accountIds, seed: 'backlog' })
        const filled = await filler.call<Fed>('closedLoop', {
          ...{ seconds: 300, concurrent: 2, linesPerBatch: 500 },
          ...{ underWayMax: Number.MAX_SAFE_INTEGER, countMax: backlog },
        })
        const resumedAtMs = monotonicMs()
        await calls.setStatus(returning, 'ACTIVE')
        const bad = await measureFeed(stage, others, () =>
          stage.feedOpen({ seconds: options.seconds, perSecond: PER_SECOND }),
        )
        await untilSettled(stage, paybell, 0, 300_000)
        const drainedSeconds = (monotonicMs() - resumedAtMs) / 1_000
        const p99 = bad.latency.p99 / good.latency.p99
        const missing = good.missing + bad.missing
        return [
          {
            target: 4,
            name: `an endpoint with ${number(filled.accepted)} queued comes back: p99 of the others`,
            measured: `${number(bad.latency.p99, 1)} ms`,
            against: `${number(good.latency.p99, 1)} ms`,
            ratio: p99,
            wanted: '≤ 2',
            isMet: missing === 0 && p99 <= 2,
            detail: `drained within ${number(drainedSeconds, 1)} s (${number(filled.accepted / drainedSeconds)}/s) beside ${PER_SECOND}/s for the others; missing ${missing}.`,
            latencies: [{ label: 'a backlog returns', percentiles: bad.latency }],
          },
        ]
      } finally {
        await filler.stop()
      }
    }),
}
