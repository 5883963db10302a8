// From the request to the receiver, in an open loop: at a low rate against one commit and one POST
// measured alone, and at half of what the service can do.

import type { Timed } from '../floors/disk.ts'
import type { RawPosted } from '../floors/raw-post.ts'
import { Child } from '../harness/child.ts'
import {
  aimAt,
  limitsOf,
  measureFeed,
  type Slice,
  untilSettled,
  warmUp,
} from '../harness/measure.ts'
import { Stage } from '../harness/stage.ts'
import { percentiles } from '../harness/statistics.ts'
import type { System } from '../harness/system.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario, type ScenarioOptions, type ScenarioResult } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const LOW_PER_SECOND = 50

export const latency: Scenario = {
  name: 'latency',
  async measure(options) {
    const { low, results } = await measurePaybell(options)
    for (const peer of options.realPeers) results.push(await beside(peer, low, options))
    return results
  },
}

function measurePaybell(
  options: ScenarioOptions,
): Promise<{ low: Slice; results: ScenarioResult[] }> {
  return withPaybell({ endpoints: options.endpoints }, async (stage, paybell) => {
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
    const tail = low.latency.p99 / low.latency.p50
    const results = [
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
      {
        target: null,
        name: `p99 from request to receiver at ${LOW_PER_SECOND}/s`,
        measured: `${number(low.latency.p99, 2)} ms`,
        against: `${number(low.latency.p50, 2)} ms, its own p50`,
        ratio: tail,
        wanted: '≤ 4',
        isMet: low.missing === 0 && tail <= 4,
        detail: '',
        latencies: [],
      },
    ]
    return { low, results }
  })
}

async function beside(
  peer: System,
  ours: Slice,
  options: ScenarioOptions,
): Promise<ScenarioResult> {
  const stage = await Stage.open()
  try {
    const running = await peer.start({
      receiverUrl: stage.receiverUrl,
      endpoints: options.endpoints,
    })
    try {
      await warmUp(stage, running, { ...options, feed: 'put', underWayMax: peer.underWayMax })
      const theirs = await measureFeed(stage, running, () =>
        stage.feedOpen({ seconds: options.seconds, perSecond: LOW_PER_SECOND }),
      )
      const ratio = ours.latency.p99 / theirs.latency.p99
      return {
        target: null,
        name: `p99 at ${LOW_PER_SECOND}/s beside ${peer.name}`,
        measured: `${number(ours.latency.p99, 2)} ms`,
        against: `${number(theirs.latency.p99, 2)} ms`,
        ratio,
        wanted: '≤ 2',
        isMet: ratio <= 2,
        detail: `p50 ${number(ours.latency.p50, 2)} against ${number(theirs.latency.p50, 2)} ms; missing ${theirs.missing}, twice ${theirs.duplicates}.`,
        latencies: [],
        cost: costOf(theirs),
      }
    } finally {
      await running.stop()
    }
  } finally {
    await stage.close()
  }
}
