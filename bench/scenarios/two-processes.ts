// The same work by `paybell serve` and by two processes of it under one parent: nothing may get dearer, and on two cores,
// which receiver, generator and database share, it gets a little faster. `node bench/processes.ts` does it in turns.

import { setTimeout as delay } from 'node:timers/promises'
import { measureOne } from '../harness/measure.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario, type ScenarioOptions } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

async function measure(options: ScenarioOptions, processes: number) {
  return withPaybell(
    { endpoints: options.endpoints, siblings: processes },
    async (stage, paybell) => {
      // Shards are shared out within a few renewals.
      if (processes > 1) await delay(10_000)
      const round = await measureOne(stage, paybell, { ...options, feed: 'batch' })
      return { ...round, cpuSum: round.cpu.service + round.cpu.store }
    },
  )
}

export const twoProcesses: Scenario = {
  name: 'two-processes',
  async measure(options) {
    const one = await measure(options, 1)
    const two = await measure(options, 2)
    const ratio = two.cpuSum / one.cpuSum
    const missing = one.missing + two.missing
    return [
      {
        target: 12,
        name: 'CPU per delivery, two processes of one parent',
        measured: `${number(two.cpuSum, 3)} CPU-s per 1,000`,
        against: `${number(one.cpuSum, 3)} with one`,
        ratio,
        wanted: '≤ 1.1',
        isMet: missing === 0 && ratio <= 1.1,
        detail: `${number(two.perSecond)}/s against ${number(one.perSecond)}/s; missing ${missing}, twice ${two.duplicates}.`,
        latencies: [],
        cost: costOf(two),
      },
    ]
  },
}
