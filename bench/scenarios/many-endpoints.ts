// The same payments, spread over ten endpoints or over thousands. An idle endpoint costs nothing, and a
// busy one no more for having neighbours.

import { measureRound } from '../harness/measure.ts'
import { number } from '../report/text.ts'
import type { Scenario, ScenarioOptions } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

async function measure(options: ScenarioOptions, endpoints: number) {
  return withPaybell({ endpoints }, async (stage, paybell) => {
    const round = await measureRound(stage, paybell, { ...options, feed: 'batch' })
    return { ...round, cpuSum: round.cpu.service + round.cpu.store }
  })
}

export const manyEndpoints: Scenario = {
  name: 'many-endpoints',
  async measure(options) {
    const counts = options.isTrial ? [10, 500] : [10, 10_000, 100_000]
    const rounds = []
    for (const count of counts) rounds.push({ count, ...(await measure(options, count)) })
    const [few, ...many] = rounds
    if (few === undefined) return []
    return many.map((round) => ({
      target: 11,
      name: `CPU per delivery, ${number(round.count)} endpoints`,
      measured: `${number(round.cpuSum, 3)} CPU-s per 1,000`,
      against: `${number(few.cpuSum, 3)} with ${few.count}`,
      ratio: round.cpuSum / few.cpuSum,
      wanted: '≤ 1.15',
      isMet: round.missing === 0 && round.cpuSum / few.cpuSum <= 1.15,
      detail: `${number(round.perSecond)}/s against ${number(few.perSecond)}/s; missing ${round.missing}.`,
      latencies: [],
    }))
  },
}
