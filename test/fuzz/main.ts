// npm run fuzz:answers [answers] [first seed]: our reader of answers beside Node's, by a million answers or as many as
// are asked for. A failure names its seed.

import { readArguments, toCount, toWhole } from '../support/number-arguments.ts'
import { compareSeed, type Tally } from './compare.ts'

// Most answers are refused, each a hundred times: where in our code, nobody asks.
Error.stackTraceLimit = 0
const [answers, firstSeed] = readArguments(() => {
  const [count = '1000000', seed = '1'] = process.argv.slice(2)
  return [toCount('answers', count), toWhole('first seed', seed)]
})
const tally: Tally = { answers: 0, takenByNode: 0, takenByUs: 0, keptByUs: 0 }
const TOLD_EVERY = 20_000
const startedAt = performance.now()
for (let seed = firstSeed; tally.answers < answers; seed += 1) {
  await compareSeed(seed, tally)
  if (tally.answers % TOLD_EVERY === 0) tellTally()
}
if (tally.answers % TOLD_EVERY !== 0) tellTally()

function tellTally(): void {
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(
    `${tally.answers} answers from seed ${firstSeed} on, in ${seconds} s: never more lenient than Node.`,
    `Of the spoilt ones Node took ${tally.takenByNode}, our reader ${tally.takenByUs}, and kept ${tally.keptByUs} connections`,
  )
}
