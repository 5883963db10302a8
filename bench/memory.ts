// `node bench/memory.ts [--count=N] [flags of node …]`: the service's RSS at rest and with fifty thousand deliveries in memory,
// of 60,000 that are fed or of as many as are asked for, with other flags than its own where some are given. What they cost in
// processor time, bench/pairs.ts says.

import { measureHeld } from './scenarios/memory.ts'
import { withPaybell } from './scenarios/with-paybell.ts'

const COUNT = /^--count=(?<count>\d+)$/
const given = process.argv.slice(2)
const flags = given.filter((flag) => !COUNT.test(flag))
const count = Number(given.find((flag) => COUNT.test(flag))?.match(COUNT)?.groups?.count ?? 60_000)
// Not the first start: Node keeps compiled code for each set of flags apart, and a start that compiles takes 20 MB more.
await withPaybell({ endpoints: 1, nodeArguments: flags }, async () => {})
const held = await measureHeld({ endpoints: 20, seed: 'memory', count }, flags)
console.log(
  `${held.atRestMb.toFixed(0)} MB at rest, ${held.mostMb.toFixed(0)} MB with ${held.mostHeld} of ${held.accepted} deliveries in memory`,
)
