// Every script of package.json and every program that the documents for developers name, with how it is run small. What
// nobody runs breaks unseen.

import { findKafka } from '../support/kafka-jars.ts'
import { findNatsServer } from '../support/nats-server.ts'
import { whyNoVersionBefore } from '../upgrade/version-before.ts'

export interface SmallRun {
  args: readonly string[]
  /** What it prints when it has done its work. */
  prints: RegExp
  /** Why it cannot run here. */
  skip?: string | false
}

/** Another test, or the run of the tests itself, runs it. */
export interface Elsewhere {
  by: string
}

const kafka = await findKafka()
const NEEDS_KAFKA = 'missing' in kafka && kafka.missing
const NEEDS_NATS = findNatsServer() === null && 'nats-server is not installed'

const CLUSTER = 'test/tools/cluster.slow.test.ts'

const BENCH = [
  '--no-peers',
  '--no-floors',
  '--rounds=1',
  '--slices=1',
  '--seconds=0.3',
  '--warm-up=0.3',
]

/** `folder` is a temporary one of the test. */
export function scripts(folder: string): Readonly<Record<string, SmallRun | Elsewhere>> {
  return {
    start: { by: 'test/docs/readme-walk.slow.test.ts' },
    test: { by: 'test/house/interrupted.slow.test.ts' },
    'test:slow': { by: '.ci/run' },
    // The same program, and some of its files in each landing.
    'test:release': { by: 'test/run.ts' },
    postinstall: { by: '.ci/run' },
    check: { by: '.ci/run' },
    // The same program as check, and nothing to write after it.
    format: { by: '.ci/run' },
    'build:console': { by: 'test/run.ts' },
    schema: { args: ['--check'], prints: /schema\.sql is as it should be/ },
    packages: { args: [`${folder}/packages`], prints: /paybell, cli, sdk/ },
    sbom: { args: [folder], prints: /cdx\.json/ },
    licences: { args: ['--check'], prints: /THIRD-PARTY-LICENSES\.md is as it should be/ },
    wire: { args: ['--check'], prints: /^sdk\/src\/wire\/types\.ts is as it should be/ },
    plans: { args: [], prints: /insert into endpoint_hours/ },
    'fuzz:answers': { args: ['500'], prints: /500 answers .* never more lenient/ },
    sim: { by: 'test/simulator/simulator.slow.test.ts' },
    'sim:mutants': { by: 'test/simulator/simulator.slow.test.ts' },
    // It judges how late things are: nothing runs beside it.
    chaos: { by: 'test/chaos/command.slow.test.ts' },
    rehearse: { by: 'test/upgrade/upgrade.slow.test.ts' },
    bench: {
      args: [...BENCH, '--only=^Paybell$', '--scenarios=none'],
      prints: /Paybell/,
    },
  }
}

/** Scripts, too. */
export const MEASURES: Readonly<Record<string, SmallRun>> = {
  'measure:lists': { args: ['2000'], prints: /deliveries/ },
  'measure:locked': { args: ['1'], prints: /p50 [\d.]+ ms, .*; [1-9]\d* PUTs/ },
  'measure:statement': { args: ['5000'], prints: /hours/ },
  'measure:migrations': { args: ['2000', '100'], prints: /^ +[\d.]+ ms {2}0022_find: locks/m },
  'measure:nats': {
    args: ['50', '2'],
    prints: /published ([1-9]\d*) .*; events \1$/m,
    skip: NEEDS_NATS,
  },
  'measure:kafka': {
    args: ['100', '2'],
    prints: /all are delivered: published [1-9]/,
    skip: NEEDS_KAFKA,
  },
}

/** By their files; `folder` is a temporary one of the test. */
export function programs(folder: string): Readonly<Record<string, SmallRun | Elsewhere>> {
  return {
    'test/run.ts': { by: 'test/house/interrupted.slow.test.ts' },
    'test/measure/cluster-cpu.ts': { by: CLUSTER },
    'test/measure/cluster-rates.ts': { by: CLUSTER },
    'test/measure/node-loss.ts': { by: CLUSTER },
    'test/upgrade/keep-data.ts': {
      args: [`${folder}/kept.json`],
      prints: /[1-9]\d* rows of [\d.]+ are kept in .*kept\.json/,
      skip: whyNoVersionBefore() ?? false,
    },
    'bench/trace.ts': {
      args: ['--slices', '1', '--seconds', '2', '--warm-up', '50'],
      prints: /^100 of 100 PUTs traced/m,
    },
    'bench/memory.ts': { args: ['--count=500'], prints: /MB at rest, \d+ MB with [1-9]\d* of 500/ },
    'bench/store-pairs.ts': {
      args: ['.', '--rounds', '1', '--batches', '1', '--lone', '5'],
      prints: /\d/,
    },
    'bench/sending-pairs.ts': { args: ['.', '1', '20'], prints: /\d/ },
    'bench/pairs.ts': { args: ['put', '1', '100', '.', '.'], prints: /\d/ },
    'bench/registered.ts': { args: ['300'], prints: /300 endpoints/ },
    'bench/processes.ts': { args: ['1', '100'], prints: /\d/ },
    'bench/allocations.ts': { args: ['batch', '500', '.'], prints: /bytes/ },
    'bench/http-put.ts': { args: ['1', '50', '.'], prints: /\d/ },
  }
}
