// The same payments, spread over ten endpoints or over thousands. An idle endpoint costs nothing, and a
// busy one no more for having neighbours.

import { measureOne } from '../harness/measure.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario, type ScenarioOptions } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

const FEW = 10

async function measure(options: ScenarioOptions, endpoints: number) {
  return withPaybell({ endpoints }, async (stage, paybell) => {
    const round = await measureOne(stage, paybell, { ...options, feed: 'batch' })
    return { ...round, cpuSum: round.cpu.service + round.cpu.store }
  })
}

export const manyEndpoints: Scenario = {
  name: 'many-endpoints',
  async measure(options) {
    const counts = options.isTrial ? [500] : [10_000, 100_000]
    // Ten first and last: a machine that warms up or slows down favours neither.
    const before = await measure(options, FEW)
    const many = []
    for (const count of counts) many.push({ count, ...(await measure(options, count)) })
    const after = await measure(options, FEW)
    const fewCpu = (before.cpuSum + after.cpuSum) / 2
    const fewRate = (before.perSecond + after.perSecond) / 2
    return many.map((round) => ({
      target: 11,
      name: `CPU per delivery, ${number(round.count)} endpoints`,
      measured: `${number(round.cpuSum, 3)} ms`,
      against: `${number(fewCpu, 3)} ms with ${FEW}`,
      ratio: round.cpuSum / fewCpu,
      wanted: '≤ 1.25',
      isMet: round.missing + round.duplicates === 0 && round.cpuSum / fewCpu <= 1.25,
      detail: `${number(round.perSecond)}/s against ${number(fewRate)}/s; missing ${round.missing}, twice ${round.duplicates}.`,
      latencies: [],
      cost: costOf(round),
    }))
  },
}
