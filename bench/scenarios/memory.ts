// What the service holds: at rest, with fifty thousand deliveries in memory, and documents of a megabyte of which a
// hundred are under way.

import { setTimeout as delay } from 'node:timers/promises'
import { rssMegabytes } from '../harness/cpu.ts'
import { aimAt } from '../harness/measure.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { number } from '../report/text.ts'
import type { Scenario, ScenarioResult } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const RSS_MB_MAX = 250
const AT_REST_MB_MAX = 150
const AT_REST_AFTER_MS = 10_000
/** More than this between the middle and the end of a run counts as growth. */
const GROWTH_SHARE_MAX = 0.15

async function inMemory(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text()
  return Number(/^paybell_deliveries_in_memory (\d+)/m.exec(text)?.[1] ?? 0)
}

export interface Held {
  /** Ten seconds after the start, when nothing has been asked of it. */
  atRestMb: number
  mostMb: number
  mostHeld: number
  accepted: number
}

/** `nodeArguments` are added to the flags of cli/operator/node-flags.ts; of two of a kind the last counts. */
export function measureHeld(
  { endpoints, seed, count }: { endpoints: number; seed: string; count: number },
  nodeArguments: readonly string[] = [],
): Promise<Held> {
  return withPaybell({ endpoints, nodeArguments }, async (stage, paybell) => {
    const pid = paybell.pids[0] as number
    await delay(AT_REST_AFTER_MS)
    const atRestMb = rssMegabytes(pid)
    // No endpoint answers: what is accepted stays in memory.
    await stage.behave(
      paybell.prepared.endpoints.map((endpoint) => endpoint.path),
      'hang',
    )
    await aimAt(stage, paybell, seed)
    let mostMb = 0
    let mostHeld = 0
    const feeding = stage.feed({
      ...{ seconds: 120, concurrent: 4, linesPerBatch: 500 },
      ...{ underWayMax: Number.MAX_SAFE_INTEGER, countMax: count },
    })
    let isFed = false
    const fed = feeding.finally(() => {
      isFed = true
    })
    for (let after = 0; after < 10; await delay(300)) {
      mostHeld = Math.max(mostHeld, await inMemory(paybell.baseUrl))
      mostMb = Math.max(mostMb, rssMegabytes(pid))
      if (isFed) after++
    }
    const { accepted } = await fed
    return { atRestMb, mostMb, mostHeld, accepted }
  })
}

export const manyInMemory: Scenario = {
  name: 'many-in-memory',
  async measure({ endpoints, seed, isTrial }) {
    const held = await measureHeld({ endpoints, seed, count: isTrial ? 5_000 : 60_000 })
    const row = (name: string, mb: number, most: number, detail: string) => ({
      target: 8,
      name,
      measured: `${number(mb)} MB`,
      against: `${most} MB`,
      ratio: mb / most,
      wanted: '≤ 1',
      isMet: mb <= most,
      detail,
      latencies: [],
    })
    return [
      row('RSS at rest', held.atRestMb, AT_REST_MB_MAX, 'Ten seconds after the start.'),
      row(
        `RSS with ${number(held.mostHeld)} deliveries in memory`,
        held.mostMb,
        RSS_MB_MAX,
        `${number(held.accepted)} accepted while no endpoint answers; the greatest RSS and the greatest number held, of samples each 0.3 s.`,
      ),
    ]
  },
}

export const largeDocuments: Scenario = {
  name: 'large-documents',
  measure: (options) =>
    withPaybell({ endpoints: options.endpoints }, async (stage, paybell) => {
      const seconds = options.isTrial ? 6 : 120
      await stage.behave(
        paybell.prepared.endpoints.map((endpoint) => endpoint.path),
        'slow',
      )
      await aimAt(stage, paybell, options.seed, 1_000_000)
      const pid = paybell.pids[0] as number
      const samples: { atMs: number; mb: number }[] = []
      const startedAtMs = monotonicMs()
      let isRunning = true
      const feeding = stage.feed({ seconds, concurrent: 16, underWayMax: 100 }).finally(() => {
        isRunning = false
      })
      for (; isRunning; await delay(200)) {
        samples.push({ atMs: monotonicMs() - startedAtMs, mb: rssMegabytes(pid) })
      }
      const fed = await feeding
      return [toResult(samples, seconds, fed.accepted)]
    }),
}

function toResult(
  samples: readonly { atMs: number; mb: number }[],
  seconds: number,
  accepted: number,
): ScenarioResult {
  const most = (from: number, to: number) =>
    Math.max(
      ...samples
        .filter(({ atMs }) => atMs >= seconds * 1_000 * from && atMs < seconds * 1_000 * to)
        .map(({ mb }) => mb),
    )
  // The first half is for the heap to find its size.
  const middle = most(0.5, 0.75)
  const end = most(0.75, 1.1)
  return {
    target: 9,
    name: 'RSS, documents of 1 MB, 100 under way: the end against the middle',
    measured: `${number(end)} MB`,
    against: `${number(middle)} MB`,
    ratio: end / middle,
    wanted: `≤ ${1 + GROWTH_SHARE_MAX}`,
    isMet: end / middle <= 1 + GROWTH_SHARE_MAX,
    detail: `${number(accepted)} documents accepted in ${seconds} s; greatest RSS of the third and of the last quarter.`,
    latencies: [],
  }
}
