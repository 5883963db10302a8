// From the request to the receiver, in an open loop: at a low rate against one commit and one POST
// measured alone, and at half of what the service can do.

import type { Timed } from '../floors/disk.ts'
import type { RawPosted } from '../floors/raw-post.ts'
import { Child } from '../harness/child.ts'
import { aimAt, limitsOf, measureFeed, untilSettled } from '../harness/measure.ts'
import { percentiles } from '../harness/statistics.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const LOW_PER_SECOND = 50

export const latency: Scenario = {
  name: 'latency',
  measure: (options) =>
    withPaybell({ endpoints: options.endpoints }, async (stage, paybell) => {
      await aimAt(stage, paybell, options.seed)
      await stage.feed(limitsOf('put', options.warmUpSeconds))
      await untilSettled(stage, paybell)
      const floors = new Child(new URL('../floors/process.ts', import.meta.url))
      const alone = { commitMs: 0, postMs: 0 }
      try {
        const timed = await floors.call<Timed>('commitLoop', paybell.database.url, 2)
        alone.commitMs = timed.medianMs
        const posted = await floors.call<RawPosted>('rawClient', {
          ...{ url: `${stage.receiverUrl}/none`, seed: 'alone', connections: 1, underWay: 1 },
          ...{ seconds: 2, firstNumber: 0x3b9aca01 },
        })
        alone.postMs = percentiles(posted.latenciesMs).p50
      } finally {
        await floors.stop()
      }
      const low = await measureFeed(stage, paybell, () =>
        stage.feedOpen({ seconds: options.seconds, perSecond: LOW_PER_SECOND }),
      )
      const full = await measureFeed(stage, paybell, () =>
        stage.feed(limitsOf('put', Math.min(4, options.seconds))),
      )
      const half = await measureFeed(stage, paybell, () =>
        stage.feedOpen({ seconds: options.seconds, perSecond: Math.floor(full.perSecond / 2) }),
      )
      const floorMs = alone.commitMs + alone.postMs
      const ratio = low.latency.p50 / floorMs
      return [
        {
          target: 5,
          name: `p50 from request to receiver at ${LOW_PER_SECOND}/s`,
          measured: `${number(low.latency.p50, 2)} ms`,
          against: `${number(alone.commitMs, 2)} ms commit + ${number(alone.postMs, 2)} ms POST`,
          ratio,
          wanted: '≤ 3',
          isMet: low.missing === 0 && ratio <= 3,
          detail: `p99 ${number(low.latency.p99, 1)} ms, p99.9 ${number(low.latency.p999, 1)} ms; at half of its own maximum (${number(full.perSecond / 2)}/s) p50 ${number(half.latency.p50, 1)} ms, p99 ${number(half.latency.p99, 1)} ms, p99.9 ${number(half.latency.p999, 1)} ms.`,
          cost: costOf(low),
          latencies: [
            { label: `${LOW_PER_SECOND}/s`, percentiles: low.latency },
            { label: 'half of its maximum', percentiles: half.latency },
          ],
        },
      ]
    }),
}
