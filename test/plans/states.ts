// Every statement of the store, and its plans in every state that a database and its statistics can be in.

import type { Pool, PoolClient } from 'pg'
import type { TestDatabase } from '../support/database.ts'
import { callCells } from './calls-cells.ts'
import { callHotPath } from './calls-hot.ts'
import { callReads } from './calls-reads.ts'
import { callWrites } from './calls-writes.ts'
import { findPlannedEachTime } from './kept-plans.ts'
import { measureReads, type RowsRead } from './measured.ts'
import { BOUNDED, NEEDED, withoutTricks } from './needed.ts'
import { type PlanNode, readCatalog, toPlan } from './plan.ts'
import { Recorder, type Statement } from './recorder.ts'
import { pickSample } from './sample.ts'
import {
  beginToday,
  copyWorld,
  emptyWorld,
  fillWorld,
  gatherStatistics,
  gatherStatisticsOfEmpty,
  gatherStatisticsOfTheRest,
  makeEmptyWorld,
} from './world.ts'

/** Files whose statements are not about rows of the service, or run outside it. */
export const WITHOUT_PLANS = new Map([
  ['app-role.ts', 'roles and grants'],
  ['audit-retention.ts', 'names and drops partitions'],
  ['audit-indexes.ts', 'names and indexes partitions'],
  ['consumer-lease.ts', 'keeps a row for each source, by its key'],
  ['closed-days.ts', 'names and vacuums partitions'],
  ['check-database.ts', 'asks for the version of the server'],
  ['cell-migrations.ts', 'runs migrations'],
  ['cells.ts', 'asks the catalogue, for the operator'],
  ['client-moves.ts', 'runs for a move alone, or reads a few rows'],
  ['move-ends.ts', 'runs for a move alone'],
  ['move-fence.ts', 'runs for a move alone'],
  ['move-rows.ts', 'runs for a move alone'],
  ['default-partitions.ts', 'asks a function about the audit'],
  ['durability.ts', 'reads settings'],
  ['feed-origin.ts', 'runs once, after a database was moved'],
  ['hosts.ts', 'asks whether a server takes writes'],
  ['inspect-database.ts', 'runs for the doctor alone'],
  ['inspect-server.ts', 'runs for the doctor alone'],
  ['lock-tries.ts', 'reads who holds a lock'],
  ['locks.ts', 'takes advisory locks'],
  ['migrate.ts', 'runs migrations'],
  ['migration-hashes.ts', 'runs with migrations'],
  ['partitions.ts', 'makes partitions'],
  ['sign-session.ts', 'takes an advisory lock, and asks about others'],
  ['pooler.ts', 'asks which connection it is'],
  ['session.ts', 'sets a connection up'],
  ['wake-ups.ts', 'notifies'],
  ['write-refusals.ts', 'writes to a table of its own'],
])

/** How much there is to read depends on the value given, so a plan for it is right. */
const BY_VALUE = new Set(['sending-endpoints.readChangedEndpoints'])

/**
 * A plan that is kept for any values may have been made while the tables were empty. One that is made for
 * the values given is made when it is needed, so an empty database does not matter to it.
 */
export const STATES = [
  'empty, never analyzed',
  'empty, analyzed',
  'empty, analyzed when full',
  'full, never analyzed',
  'full, analyzed',
  'full, analyzed when empty',
  'full, analyzed but for what is owed',
  'full, analyzed, but of today there is nothing',
] as const
export type State = (typeof STATES)[number]

/**
 * Where statements are looked at that are not of the hot path: after an upgrade, on any day, when what is owed was
 * last analyzed empty, and in the first moment of a day. They are planned when there is something to read.
 */
export const STATES_OF_ALL: ReadonlySet<State> = new Set<State>([
  'full, never analyzed',
  'full, analyzed',
  'full, analyzed but for what is owed',
  'full, analyzed, but of today there is nothing',
])

export interface StatePlan {
  state: State
  /** `any`: kept by a connection that has prepared the statement. `given`: made for these values. */
  values: 'any' | 'given'
  plan: PlanNode
}

/** With what PostgreSQL says of it. */
export interface SentStatement extends Statement {
  isHot: boolean
  parameterTypes: readonly string[]
}

export interface Explained extends SentStatement {
  plans: readonly StatePlan[]
  /** What it read of a full database; null where it was not run. */
  read: RowsRead | null
}

/** The function that sends a statement, without what tells its variants apart. */
export const functionOf = (name: string) => name.split(' ')[0] as string

export interface ExplainedStore {
  /** PostgreSQL's major version. */
  version: number
  statements: readonly Explained[]
  /** The same statements without what they do for the planner's sake, and without what bounds them (needed.ts). */
  withoutTricks: readonly Explained[]
  withoutBounds: readonly Explained[]
  /** Prepared statements of the hot path of which no plan is kept. */
  plannedEachTime: readonly string[]
  /** Lines of the store that can send a statement and were not called. */
  unseen: readonly string[]
}

/** `isHotOnly`: all that is asked is what the hot path does, as on a second version of PostgreSQL. */
export async function explainStore(
  options: { server?: string; isHotOnly?: boolean } = {},
): Promise<ExplainedStore> {
  const empty = await makeEmptyWorld(options)
  const full = await copyWorld(empty, options)
  await fillWorld(full.pool)
  const called = await copyWorld(full, options)
  const { statements: sent, unseen } = await callStore(called)
  await called.drop()

  const statements = options.isHotOnly ? sent.filter(({ isHot }) => isHot) : sent
  const others = options.isHotOnly ? [] : withoutTricks(statements, NEEDED)
  const unbounded = options.isHotOnly ? [] : withoutTricks(statements, BOUNDED)
  const looker = new Looker([...statements, ...others, ...unbounded])
  await looker.look(empty, 'empty, never analyzed')
  await gatherStatistics(empty.pool)
  await looker.look(empty, 'empty, analyzed')
  await looker.look(full, 'full, never analyzed')
  await gatherStatistics(full.pool)
  await looker.look(full, 'full, analyzed')
  const plannedEachTime = await looker.findPlannedEachTime(full)
  if (!options.isHotOnly) {
    const run = await copyWorld(full, options)
    await looker.measure(run)
    await run.drop()
  }
  await emptyWorld(full.pool)
  await looker.look(full, 'empty, analyzed when full')
  await gatherStatisticsOfEmpty(full.pool)
  await fillWorld(full.pool)
  await looker.look(full, 'full, analyzed when empty')
  await gatherStatisticsOfTheRest(full.pool)
  await looker.look(full, 'full, analyzed but for what is owed')
  await beginToday(full.pool)
  await looker.look(full, 'full, analyzed, but of today there is nothing')
  return {
    version: looker.version,
    statements: looker.explained.slice(0, statements.length),
    withoutTricks: looker.explained.slice(statements.length, statements.length + others.length),
    withoutBounds: looker.explained.slice(statements.length + others.length),
    plannedEachTime,
    unseen,
  }
}

/** All that the store sends, without a look at any plan. */
export async function readStatements(): Promise<readonly SentStatement[]> {
  const { pool } = await makeEmptyWorld({})
  await fillWorld(pool)
  const { statements } = await callStore({ pool })
  return withTypes(pool, statements)
}

/** Prepares them, which also says what their parameters are. */
export async function withTypes<S extends Statement>(pool: Pool, statements: readonly S[]) {
  const client = await pool.connect()
  const types = await prepareAll(client, statements)
  client.release(true)
  return statements.map((statement, index) => ({
    ...statement,
    parameterTypes: types[index] ?? [],
  }))
}

async function callStore({ pool }: Pick<TestDatabase, 'pool'>) {
  const recorder = new Recorder(pool)
  const sample = await pickSample(pool)
  await callHotPath(recorder, sample)
  const hot = new Set(recorder.statements.map(({ text }) => text))
  await callReads(recorder, sample)
  await callCells(recorder)
  await callWrites(recorder, sample)
  const statements = recorder.statements.map((statement) => ({
    ...statement,
    isHot: hot.has(statement.text),
  }))
  return { statements, unseen: recorder.findUnseen(new Set(WITHOUT_PLANS.keys())) }
}

/** Explains all statements on one connection after the other. */
class Looker {
  readonly explained: (Explained & { plans: StatePlan[] })[]
  version = 0

  constructor(statements: readonly (Statement & { isHot: boolean })[]) {
    this.explained = statements.map((statement) => ({
      ...statement,
      parameterTypes: [],
      plans: [],
      read: null,
    }))
  }

  async look({ pool }: TestDatabase, state: State): Promise<void> {
    const catalog = await readCatalog(pool)
    const client = await pool.connect()
    try {
      const isFirst = this.version === 0
      this.version = await readVersion(client)
      await client.query(SETTINGS)
      if (isFirst || this.version < 16) {
        const types = await prepareAll(client, this.explained)
        for (const [index, one] of this.explained.entries()) one.parameterTypes = types[index] ?? []
      }
      // All at once: they travel together, and are answered in order.
      const asked: Promise<unknown>[] = []
      for (const [index, statement] of this.explained.entries()) {
        if (!STATES_OF_ALL.has(state) && !isLookedAtEverywhere(statement)) continue
        const explain = (values: StatePlan['values'], text: string, given?: unknown[]) =>
          client.query(text, given).then(({ rows }) => {
            const plan = toPlan(rows[0]['QUERY PLAN'], catalog)
            statement.plans.push({ state, values, plan })
          })
        const { preparedAs, values, text, isLifted } = statement
        asked.push(client.query(`set enable_seqscan = ${isLifted ? 'on' : 'off'}`))
        if (preparedAs !== null || values.length === 0) {
          asked.push(explain('any', this.#explainForAny(statement, index)))
        }
        if (values.length > 0 && state.startsWith('full')) {
          asked.push(explain('given', `explain (format json) ${text}`, [...values]))
        }
      }
      await Promise.all(asked)
    } finally {
      client.release(true)
    }
  }

  async measure({ pool }: TestDatabase): Promise<void> {
    const client = await pool.connect()
    for (const statement of this.explained) statement.read = await measureReads(client, statement)
    client.release(true)
  }

  async findPlannedEachTime({ pool }: TestDatabase): Promise<readonly string[]> {
    const client = await pool.connect()
    try {
      const kept = this.explained.filter(
        ({ isHot, preparedAs, name }) =>
          isHot && preparedAs !== null && !/ without /.test(name) && !BY_VALUE.has(name),
      )
      return await findPlannedEachTime(client, kept)
    } finally {
      client.release(true)
    }
  }

  /** PostgreSQL 15 explains a plan for any values only by executing it. */
  #explainForAny({ text, parameterTypes }: Explained, index: number): string {
    if (this.version >= 16) return `explain (generic_plan, format json) ${text}`
    const nulls = parameterTypes.map(() => 'null').join(', ')
    return `explain (format json) execute ${nameOf(index)}${nulls && `(${nulls})`}`
  }
}

const WITH_TRICKS = new Set(NEEDED.flatMap(({ statements }) => statements))

function isLookedAtEverywhere({ isHot, name }: Explained): boolean {
  return isHot || WITH_TRICKS.has(name.replace(/ without .*/, ''))
}

async function readVersion(client: PoolClient): Promise<number> {
  const { rows } = await client.query('show server_version_num')
  return Math.floor(Number(rows[0].server_version_num) / 10_000)
}

/** What differs from server to server and is none of the session's own settings. */
const SETTINGS = `set plan_cache_mode = force_generic_plan; set effective_cache_size = '4GB';
  set work_mem = '4MB'; set max_parallel_workers_per_gather = 0`

const nameOf = (index: number) => `statement_${index}`

/** Each under a name of its own; the types of their parameters, in their order. */
async function prepareAll(
  client: PoolClient,
  statements: readonly Statement[],
): Promise<readonly (readonly string[])[]> {
  await client.query(
    statements.map(({ text }, index) => `prepare ${nameOf(index)} as ${text}`).join(';\n'),
  )
  const { rows } = await client.query<{ name: string; types: string[] }>(
    'select name, parameter_types::text[] as types from pg_prepared_statements',
  )
  const types = new Map(rows.map((row) => [row.name, row.types]))
  return statements.map((_, index) => types.get(nameOf(index)) ?? [])
}
