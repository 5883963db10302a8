// Two processes share one database; one is killed. The other takes over, and nothing is lost.

import { setTimeout as delay } from 'node:timers/promises'
import { aimAt, limitsOf, measureFeed, untilSettled } from '../harness/measure.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { number } from '../report/text.ts'
import type { Scenario } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const PER_SECOND = 100
const SECONDS_MAX = 30

async function untilShared(baseUrl: string): Promise<void> {
  for (const limit = monotonicMs() + 60_000; monotonicMs() < limit; await delay(200)) {
    const response = await fetch(`${baseUrl}/metrics`)
    const held = Number(/^paybell_shards_held (\d+)/m.exec(await response.text())?.[1] ?? 64)
    if (held <= 32) return
  }
  throw new Error('the two processes did not share the shards')
}

export const takeOver: Scenario = {
  name: 'take-over',
  measure: (options) =>
    withPaybell({ endpoints: options.endpoints, processes: 2 }, async (stage, paybell) => {
      const [survivor, victim] = paybell.services
      if (survivor === undefined || victim === undefined) throw new Error('two are needed')
      await untilShared(survivor.baseUrl)
      await aimAt(stage, paybell, options.seed)
      await stage.feed(limitsOf('put', options.warmUpSeconds))
      await untilSettled(stage, paybell)
      let killedAtMs = 0
      const round = await measureFeed(stage, paybell, async () => {
        const feeding = stage.feedOpen({ seconds: SECONDS_MAX + 10, perSecond: PER_SECOND })
        await delay(2_000)
        killedAtMs = monotonicMs()
        await victim.stop('SIGKILL')
        return feeding
      })
      const seconds = round.latency.max / 1_000
      return [
        {
          target: null,
          name: 'kill −9 of one of two processes: until the other delivers in its place',
          measured: `${number(seconds, 1)} s`,
          against: `${SECONDS_MAX} s`,
          ratio: seconds / SECONDS_MAX,
          wanted: '≤ 1',
          isMet: round.missing === 0 && seconds <= SECONDS_MAX && killedAtMs > 0,
          detail: `the longest wait of ${number(round.deliveries)} payments at ${PER_SECOND}/s; missing ${round.missing}, delivered twice ${round.duplicates}.`,
          latencies: [],
        },
      ]
    }),
}
