// `npm run chaos`: the service as real processes on a real database, and everything that can happen to
// them. Options: --suite smoke|minute|full, --seed S, --seconds T (of faults), --clock-jumps or --no-clock-jumps,
// --log LEVEL, --keep, --quiet. Or what a release rests on: --hour, with --seed S and --page FILE. Or one fault on purpose:
// --scenario NAME (or all, but for the long ones), and --at COMMIT for the product of another commit, which is how a scenario is seen to fail.

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { keepCompiled } from '../support/compile-cache.ts'
import { readArguments, toSeconds, toWhole } from '../support/number-arguments.ts'
import { runHour } from './hour.ts'
import { describe } from './report.ts'
import { runChaos } from './run.ts'
import { performScenarios } from './scenarios/perform.ts'
import { FULL, MINUTE, SMOKE } from './settings.ts'

const values = readArguments(() => {
  const { values: given } = parseArgs({
    allowNegative: true,
    options: {
      'clock-jumps': { type: 'boolean' },
      suite: { type: 'string', default: 'full' },
      seed: { type: 'string' },
      seconds: { type: 'string' },
      log: { type: 'string' },
      keep: { type: 'boolean', default: false },
      scenario: { type: 'string' },
      at: { type: 'string' },
      quiet: { type: 'boolean', default: false },
      hour: { type: 'boolean', default: false },
      page: { type: 'string', default: 'test/chaos/HOUR.md' },
    },
  })
  const { seed, seconds } = given
  return {
    ...given,
    seed: seed === undefined ? randomInt(2 ** 31) : toWhole('--seed', seed),
    seconds: seconds === undefined ? null : toSeconds('--seconds', seconds),
  }
})

await keepCompiled()
if (values.scenario) process.exit(await performScenarios(values.scenario, values.at ?? null))

const { seed } = values
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
// Top-level awaits below end here, too: the run has cleaned up by then.
process.on('uncaughtException', (error) => {
  console.error(ended.signal.aborted ? error.message : error)
  process.exit(1)
})
if (values.hour) {
  const onNote = (line: string) => console.log(line)
  const hasHeld = await runHour({ seed, page: values.page, signal: ended.signal, onNote })
  process.exit(hasHeld ? 0 : 1)
}

const suite = [SMOKE, MINUTE, FULL].find(({ name }) => name === values.suite)
if (suite === undefined) {
  console.error(`There is no suite ${values.suite}: smoke, minute or full.`)
  process.exit(2)
}
const seconds = values.seconds ?? suite.seconds
const clockJumps = values['clock-jumps'] ?? suite.clockJumps
console.log(`chaos ${suite.name}: seed ${seed}, ${seconds} s of faults`)
const result = await runChaos({
  suite: { ...suite, seconds, clockJumps },
  seed,
  isKept: values.keep,
  signal: ended.signal,
  ...(values.log ? { logLevel: values.log } : {}),
  ...(values.quiet ? {} : { onNote: (line) => console.log(line) }),
})
console.log(describe(result))
process.exit(result.verdict.violations.length === 0 ? 0 : 1)
