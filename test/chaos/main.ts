// `npm run chaos`: the service as real processes on a real database, and everything that can happen to
// them. Options: --suite smoke|full, --seed S, --seconds T (of faults), --clock-jumps or --no-clock-jumps,
// --log LEVEL, --keep, --quiet. Or one fault on purpose: --scenario NAME (or all), and --at COMMIT for the product of
// another commit, which is how a scenario is seen to fail.

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { describe } from './report.ts'
import { runChaos } from './run.ts'
import { performScenarios } from './scenarios/perform.ts'
import { FULL, SMOKE } from './settings.ts'

const { values } = parseArgs({
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
  },
})

if (values.scenario) process.exit(await performScenarios(values.scenario, values.at ?? null))

const suite = values.suite === 'smoke' ? SMOKE : FULL
const seed = Number(values.seed ?? randomInt(2 ** 31))
const seconds = Number(values.seconds ?? suite.seconds)
const clockJumps = values['clock-jumps'] ?? suite.clockJumps
console.log(`chaos ${suite.name}: seed ${seed}, ${seconds} s of faults`)
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
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
