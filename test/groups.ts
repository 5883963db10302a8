// Which test files belong together, by the tier that runs them and by what they need of the machine. Every file is in exactly
// one group (test/house/groups.test.ts).

import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'
import { draw } from './support/sample.ts'

/** `test` is `npm test`; `slow` is what a landing runs besides; `release` is what a release runs besides. */
export type Tier = 'test' | 'slow' | 'release'

export interface Group {
  /** What its files have in common, for the reader of the output. */
  about: string
  tier: Tier
  patterns: readonly string[]
  except?: readonly string[]
  /** Files that compute and files that wait share the machine. Those that judge how late things are have it alone. */
  when: 'computing' | 'waiting' | 'alone'
}

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const ROOMS = '{server,cli,sdk/src,test}/**'
/** A file of another tier than `npm test` says so in its name. */
const SLOW = `${ROOMS}/*.slow.test.ts`
const RELEASE = `${ROOMS}/*.release.test.ts`
const LATER = [SLOW, RELEASE]
/** They judge how late things are, in spans that are a tenth of the usual, or how long the processor is held. */
const TIMED = [
  'test/chaos/*.slow.test.ts',
  'server/http/loop-holds.slow.test.ts',
  'test/adversary/costly-handshakes.slow.test.ts',
  'server/sources/batches/batch-holds.slow.test.ts',
  'test/house/interrupted.slow.test.ts',
]

export const GROUPS = {
  pure: {
    about: 'rules and the engine',
    tier: 'test',
    patterns: [
      'server/{config,core,delivery,route}/**/*.test.ts',
      'cli/**/*.test.ts',
      'server/*.test.ts',
      'sdk/src/**/*.test.ts',
      'test/{house,support}/**/*.test.ts',
      'bench/{report,trace}/**/*.test.ts',
    ],
    except: LATER,
    when: 'computing',
  },
  simulator: {
    about: 'the engine on virtual time',
    tier: 'test',
    patterns: ['test/simulator/**/*.test.ts'],
    except: LATER,
    when: 'computing',
  },
  http: {
    about: 'the interface',
    tier: 'test',
    patterns: ['server/http/**/*.test.ts', 'test/words/**/*.test.ts'],
    except: LATER,
    when: 'computing',
  },
  database: {
    about: 'SQL, and what stands on it',
    tier: 'test',
    patterns: [
      'server/{store,operations,upkeep,telemetry,sandbox,embedded,sources}/**/*.test.ts',
      'test/{conformance,console,deploy,plans}/**/*.test.ts',
    ],
    except: LATER,
    when: 'computing',
  },
  waiting: {
    about: 'the whole service in one process, which mostly waits',
    tier: 'test',
    patterns: ['test/{e2e,docs,browser,chaos}/**/*.test.ts'],
    except: LATER,
    when: 'waiting',
  },
  slow: {
    about: 'processes, brokers, clusters and a browser',
    tier: 'slow',
    patterns: [SLOW],
    except: TIMED,
    when: 'waiting',
  },
  timed: {
    about: 'what judges how late things are',
    tier: 'slow',
    patterns: TIMED,
    when: 'alone',
  },
  release: {
    about: 'what is long by nature',
    tier: 'release',
    patterns: [RELEASE],
    when: 'alone',
  },
} as const satisfies Record<string, Group>

export type GroupName = keyof typeof GROUPS

export const GROUP_NAMES = Object.keys(GROUPS) as readonly GroupName[]

/** In one order, so that a failure that depends on it can be repeated. */
export function filesOf(name: GroupName): readonly string[] {
  const { patterns, except = [] }: Group = GROUPS[name]
  const others = new Set(globSync([...except], { cwd: ROOT }))
  return globSync([...patterns], { cwd: ROOT })
    .filter((file) => !others.has(file))
    .toSorted()
}

/** They take longest of the slow ones: begun first, so that none of them runs on alone at the end. */
const LONGEST = ['test/tools/**', 'test/simulator/**']

/** Otherwise in the order in which they stand. */
export function longestFirst<T extends { file: string }>(files: readonly T[]): T[] {
  const isLongest = ({ file }: T) => LONGEST.some((pattern) => matchesGlob(file, pattern))
  return [...files.filter(isLongest), ...files.filter((one) => !isLongest(one))]
}

/** Of these files of the release each landing runs so many, drawn by its commit. */
const DRAWN: readonly { patterns: readonly string[]; count: number }[] = [
  { patterns: ['test/browser/**'], count: 3 },
  // A hundred kills take eleven minutes; each landing runs nine of them.
  { patterns: ['test/adversary/!(killed-siblings).release.test.ts'], count: 2 },
  { patterns: ['server/sources/**', 'test/e2e/kafka.*'], count: 1 },
  { patterns: ['test/docs/**'], count: 1 },
  { patterns: ['test/deploy/**', 'test/e2e/!(kafka).release.test.ts'], count: 3 },
  { patterns: ['server/{delivery,operations,store,telemetry}/**'], count: 2 },
]

/** What this commit runs of the release, in one order. */
export function drawnFiles(sample: string): readonly string[] {
  const release = filesOf('release')
  return DRAWN.flatMap(({ patterns, count }) => {
    const files = release.filter((file) => patterns.some((one) => matchesGlob(file, one)))
    return draw(files, count, patterns.join(), sample)
  })
}
