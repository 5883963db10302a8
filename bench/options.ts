// What the command line asks for, with the lengths of a full and of a quick run.

import { parseArgs } from 'node:util'
import type { System } from './harness/system.ts'
import { readRealPeers } from './real-peers/all.ts'

export interface Options {
  mode: 'full' | 'quick' | 'profile'
  rounds: number
  slices: number
  seconds: number
  warmUpSeconds: number
  endpoints: number
  seed: string
  hasPeers: boolean
  /** Products of others, from the programs given. */
  realPeers: readonly System[]
  hasFloors: boolean
  isPinned: boolean
  isTrial: boolean
  /** Writes RESULTS.md and the plots, although the run is not a full one. */
  isPublished: boolean
  /** Names of scenarios; null for all. */
  scenarios: readonly string[] | null
  /** Cells whose name matches; null for all. */
  only: RegExp | null
  /** Nothing is measured: these parts are joined. */
  join: readonly string[] | null
}

export const USAGE = `npm run bench -- [options]
  --quick             floors, Paybell and peers in about 6 minutes, without scenarios
  --profile           where Paybell's time goes, by function and by statement
  --only=<pattern>    only the cells whose name matches, such as "raw|Paybell"
  --scenarios=<list>  only these, comma-separated; "none" for none
  --trial             scenarios in miniature, to try the benchmark itself
  --no-peers          without graphile-worker, pg-boss, BullMQ and the naive sender
  --real-peers=svix=<program>,outpost=<program>
                      these as well, by single requests; they need redis-server, Outpost rabbitmq-server
  --no-floors         without the floors of disk, store and processor
  --publish           write RESULTS.md and the plots also after a part of a run
  --pinned            receiver and generator on the last core
  --join=<files>      write RESULTS.md from the JSON of several parts, comma-separated
  --rounds, --slices, --seconds, --warm-up, --endpoints, --seed`

export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      trial: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      pinned: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: true },
      floors: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
      join: { type: 'string' },
      scenarios: { type: 'string' },
      rounds: { type: 'string' },
      slices: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      endpoints: { type: 'string' },
      seed: { type: 'string' },
      'real-peers': { type: 'string' },
    },
    allowNegative: true,
  })
  if (values.help) return null
  const mode = values.profile ? 'profile' : values.quick ? 'quick' : 'full'
  const isFull = mode === 'full'
  return {
    mode,
    rounds: Number(values.rounds ?? (isFull ? 5 : 2)),
    slices: Number(values.slices ?? 4),
    seconds: Number(values.seconds ?? (isFull ? 3 : mode === 'profile' ? 5 : 1.5)),
    warmUpSeconds: Number(values['warm-up'] ?? (isFull ? 4 : 1.5)),
    endpoints: Number(values.endpoints ?? 20),
    seed: values.seed ?? 'paybell',
    hasPeers: values.peers,
    realPeers: readRealPeers(values['real-peers']),
    hasFloors: values.floors,
    isPinned: values.pinned,
    isTrial: values.trial,
    isPublished: values.publish,
    scenarios: readScenarios(values.scenarios, isFull),
    join: values.join?.split(',') ?? null,
    only: values.only === undefined ? null : new RegExp(values.only, 'i'),
  }
}

function readScenarios(text: string | undefined, isFull: boolean): readonly string[] | null {
  if (text === undefined) return isFull ? null : []
  return text === 'none' ? [] : text.split(',')
}
