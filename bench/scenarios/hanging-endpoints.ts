// A tenth of the endpoints accepts connections and never answers. The others must hardly notice.

import { setTimeout as delay } from 'node:timers/promises'
import { Child } from '../harness/child.ts'
import { aimAt, limitsOf, measureFeed, untilSettled } from '../harness/measure.ts'
import { isSettled, type RunningPaybell } from '../paybell/system.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario, type ScenarioOptions } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const PER_SECOND = 300
const HANGING_PER_SECOND = 60

function measure(options: ScenarioOptions, hanging: number) {
  return withPaybell({ endpoints: options.endpoints, apart: hanging }, async (stage, paybell) => {
    const sick = paybell.prepared.endpoints.slice(0, hanging)
    const healthy: RunningPaybell = {
      ...paybell,
      accountIds: paybell.accountIds.slice(hanging),
      isSettled: () =>
        isSettled(
          paybell.database,
          sick.map((endpoint) => endpoint.id),
        ),
    }
    const background = new Child(new URL('../harness/generator.ts', import.meta.url))
    try {
      await aimAt(stage, healthy, options.seed)
      await stage.feed(limitsOf('batch', options.warmUpSeconds))
      await untilSettled(stage, healthy)
      if (hanging > 0) {
        await stage.behave(
          sick.map((endpoint) => endpoint.path),
          'hang',
        )
        const accountIds = sick.map((endpoint) => endpoint.accountId)
        const { baseUrl, operatorKey } = paybell
        await background.call('aim', { baseUrl, operatorKey, accountIds, seed: 'sick' })
        const seconds = 3_600
        background.call('openLoop', { seconds, perSecond: HANGING_PER_SECOND }).catch(() => {})
        // Long enough for the hanging ones to take all that they are going to get.
        await delay(options.isTrial ? 2_000 : 20_000)
      }
      const open = await measureFeed(stage, healthy, () =>
        stage.feedOpen({ seconds: options.seconds, perSecond: PER_SECOND }),
      )
      const full = await measureFeed(stage, healthy, () =>
        stage.feed(limitsOf('batch', options.seconds)),
      )
      return { open, full }
    } finally {
      await background.stop()
    }
  })
}

export const hangingEndpoints: Scenario = {
  name: 'hanging-endpoints',
  async measure(options) {
    const good = await measure(options, 0)
    const bad = await measure(options, Math.ceil(options.endpoints / 10))
    const missing = bad.open.missing + bad.full.missing
    const throughput = bad.full.perSecond / good.full.perSecond
    const p99 = bad.open.latency.p99 / good.open.latency.p99
    const detail = `the hanging ones get ${HANGING_PER_SECOND} payments a second; missing among the healthy: ${missing}.`
    return [
      {
        target: 3,
        name: '10 % of the endpoints hang: throughput of the healthy',
        measured: `${number(bad.full.perSecond)}/s`,
        against: `${number(good.full.perSecond)}/s`,
        ratio: throughput,
        wanted: '≥ 0.8',
        isMet: missing === 0 && throughput >= 0.8,
        detail,
        latencies: [],
        cost: costOf(bad.full),
      },
      {
        target: 3,
        name: '10 % of the endpoints hang: p99 of the healthy',
        measured: `${number(bad.open.latency.p99, 1)} ms`,
        against: `${number(good.open.latency.p99, 1)} ms`,
        ratio: p99,
        wanted: '≤ 2',
        isMet: missing === 0 && p99 <= 2,
        detail: '',
        latencies: [
          { label: `all healthy, ${PER_SECOND}/s`, percentiles: good.open.latency },
          { label: `10 % hang, ${PER_SECOND}/s`, percentiles: bad.open.latency },
        ],
      },
    ]
  },
}
