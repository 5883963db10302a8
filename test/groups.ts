// Which test files run together, by what they need of the machine. Every file is in exactly one group
// (test/house/groups.test.ts).

import { globSync } from 'node:fs'

export interface Group {
  /** What its files have in common, for the reader of the output. */
  about: string
  patterns: readonly string[]
  args: readonly string[]
}

/** These measure how long something takes, so nothing runs beside them. */
const TIMED = [
  'test/e2e/killed.test.ts',
  'test/e2e/start-stop.test.ts',
  'test/e2e/two-processes.test.ts',
  'test/chaos/chaos.test.ts',
]

export const GROUPS = {
  pure: {
    about: 'rules and the engine, in one process',
    patterns: [
      'server/{config,core,delivery}/**/*.test.ts',
      'cli/**/*.test.ts',
      'server/*.test.ts',
      'sdk/src/**/*.test.ts',
      'test/house/**/*.test.ts',
    ],
    args: ['--test-isolation=none'],
  },
  simulator: {
    about: 'the engine on virtual time',
    patterns: ['test/simulator/**/*.test.ts'],
    args: [],
  },
  database: {
    about: 'SQL and HTTP, two files at a time',
    patterns: [
      'server/{store,operations,upkeep,telemetry,http,sandbox,embedded,sources}/**/*.test.ts',
      'test/{conformance,console,deploy}/**/*.test.ts',
    ],
    args: ['--test-concurrency=2'],
  },
  waiting: {
    about: 'the whole service, which mostly waits, two files at a time',
    patterns: ['test/{e2e,docs,browser,chaos}/**/*.test.ts'],
    args: ['--test-concurrency=2'],
  },
  timed: {
    about: 'what measures time, one file at a time',
    patterns: TIMED,
    args: ['--test-concurrency=1'],
  },
} as const satisfies Record<string, Group>

export type GroupName = keyof typeof GROUPS

/** In one order, so that a failure that depends on it can be repeated. */
export function filesOf(name: GroupName): readonly string[] {
  const files = globSync([...GROUPS[name].patterns]).toSorted()
  return name === 'timed' ? files : files.filter((file) => !TIMED.includes(file))
}
