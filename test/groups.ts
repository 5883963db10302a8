// Which test files belong together, by what they need of the machine. Every file is in exactly one group
// (test/house/groups.test.ts).

import { globSync } from 'node:fs'

export interface Group {
  /** What its files have in common, for the reader of the output. */
  about: string
  patterns: readonly string[]
  /** Files that compute and files that wait share the machine. What is slow is run only by its name, a file at a time:
   *  some of it judges how late things are. */
  when: 'computing' | 'waiting' | 'slow'
}

/** What is long by nature says so in its name. */
const SLOW = '**/*.slow.test.ts'

export const GROUPS = {
  pure: {
    about: 'rules and the engine',
    patterns: [
      'server/{config,core,delivery,route}/**/*.test.ts',
      'cli/**/*.test.ts',
      'server/*.test.ts',
      'sdk/src/**/*.test.ts',
      'test/house/**/*.test.ts',
      'bench/report/**/*.test.ts',
    ],
    when: 'computing',
  },
  simulator: {
    about: 'the engine on virtual time',
    patterns: ['test/simulator/**/*.test.ts'],
    when: 'computing',
  },
  http: {
    about: 'the interface',
    patterns: ['server/http/**/*.test.ts', 'test/words/**/*.test.ts'],
    when: 'computing',
  },
  database: {
    about: 'SQL, and what stands on it',
    patterns: [
      'server/{store,operations,upkeep,telemetry,sandbox,embedded,sources}/**/*.test.ts',
      'test/{conformance,console,deploy,plans}/**/*.test.ts',
    ],
    when: 'computing',
  },
  waiting: {
    about: 'the whole service, which mostly waits',
    patterns: ['test/{e2e,docs,browser,chaos}/**/*.test.ts'],
    when: 'waiting',
  },
  slow: {
    about: 'what is long by nature',
    patterns: [`{server,cli,test}/${SLOW}`, `sdk/src/${SLOW}`],
    when: 'slow',
  },
} as const satisfies Record<string, Group>

export type GroupName = keyof typeof GROUPS

export const GROUP_NAMES = Object.keys(GROUPS) as readonly GroupName[]

/** In one order, so that a failure that depends on it can be repeated. */
export function filesOf(name: GroupName): readonly string[] {
  const files = globSync([...GROUPS[name].patterns]).toSorted()
  if (name === 'slow') return files
  const slow = new Set(globSync([...GROUPS.slow.patterns]))
  return files.filter((file) => !slow.has(file))
}
