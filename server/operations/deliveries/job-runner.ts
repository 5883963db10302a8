// Works off bulk jobs, a chunk in each transaction: nothing is locked for long, and a process that is
// killed in between loses nothing and does nothing twice. A job whose process died is taken over by the
// next process that polls.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { RecurringTask } from '../../core/plain/recurring-task.ts'
import { type Db, inTransaction, isDatabaseAway } from '../../store/connection/db.ts'
import {
  deleteOldJobs,
  findLeftJobs,
  finishJob,
  holdJob,
  type JobHold,
  type JobItem,
  type JobKind,
  noteFailure,
  readItems,
  settleItems,
} from '../../store/history/jobs.ts'
import { cancelDeliveries, findStillPending } from '../../store/owed/cancellations.ts'
import { makeMissing, takeMadeTogether } from '../../store/owed/missing-events.ts'
import { replayDeliveries, takeOfFewDays } from '../../store/owed/replays.ts'
import { markRetried, retryDeliveries } from '../../store/owed/retries.ts'
import type { ChangedLane } from '../../store/owed/sending-endpoints.ts'
import { handOffAfterCommit } from '../accepting/after-commit.ts'
import type { Deps } from '../shared/deps.ts'
import { OneAtATime } from '../shared/one-at-a-time.ts'
import { setUnheldTimer } from '../shared/timers.ts'
import { isDue } from './replay-delivery.ts'

export interface JobRunnerOptions {
  /** Identifies this process. */
  runnerId: string
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  chunkMax: number
  /** Jobs at a time in this process. */
  jobsMax: number
  pollEveryMs: number
  /** A job whose runner has not renewed its hold for so long may be taken over. */
  holdMs: number
  /** Failures of our own in a row, without progress between them, after which a job is given up. */
  failuresMax: number
  /** Pause before retrying deliveries that another transaction was writing. */
  againAfterMs: number
  keptMs: number
}

export const JOB_RUNNER_DEFAULTS = {
  chunkMax: 1_000,
  jobsMax: 2,
  pollEveryMs: 2_000,
  holdMs: 5_000,
  failuresMax: 5,
  againAfterMs: 50,
  keptMs: 30 * 86_400_000,
} as const

/** Whose job it is: a client's, by its key, or the operator's. */
export type JobAsker = number | 'operator'

/** Jobs of one asker that are being begun in this process, or wait to be begun; and clients that wait with one. */
const WAITING_MAX = 16
const CLIENTS_WAITING_MAX = 64

/** What a chunk has done; passed to the engine once it is committed. */
interface Chunk {
  replayed: readonly HandedOff[]
  changed: readonly ChangedLane[]
  /** Where to go on; null at the end of the list, of which some may be left. */
  nextPosition: number | null
  end: 'done' | 'not-ours' | null
}

const NOTHING: Chunk = { replayed: [], changed: [], nextPosition: null, end: 'not-ours' }

export class JobRunner {
  readonly #deps: Deps
  readonly #options: JobRunnerOptions
  readonly #running = new Map<string, Promise<void>>()
  readonly #ofAskers = new OneAtATime<JobAsker>(WAITING_MAX)
  readonly #beginnings = new OneAtATime<'clients' | 'operator'>(CLIENTS_WAITING_MAX)
  readonly #polls: RecurringTask
  #isStopped = false
  #cleanedAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: Deps, options: JobRunnerOptions) {
    this.#deps = deps
    this.#options = options
    let waitMs = 0
    this.#polls = new RecurringTask(
      setUnheldTimer,
      () => waitMs,
      () => {
        waitMs = options.pollEveryMs
        return this.#poll()
      },
    )
  }

  /** Looks for jobs of dead processes, at once and then periodically. */
  start(): void {
    this.#polls.start()
  }

  /** Waits for the chunks under way; other processes take over the rest of their jobs. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#polls.stop(), ...this.#running.values()])
  }

  /**
   * Begins one job of all clients at a time in this process, and one of the operator: each may read and note 100,000
   * rows. Of each client one is in the common line, so that none waits for all that another has asked for.
   */
  oneAtATime<T>(asker: JobAsker, begin: () => Promise<T>): Promise<T> {
    const line = asker === 'operator' ? asker : 'clients'
    return this.#ofAskers.run(asker, () => this.#beginnings.run(line, begin))
  }

  /** The hold that makes a job this process's for the next seconds. */
  hold(): JobHold {
    const { runnerId, holdMs } = this.#options
    const nowMs = this.#deps.clock.nowMs()
    return { runner: runnerId, until: new Date(nowMs + holdMs), now: new Date(nowMs) }
  }

  /** Resolves when the job has ended, or is left for later or for another process. Never rejects. */
  run(jobId: string): Promise<void> {
    const running = this.#running.get(jobId)
    if (running !== undefined) return running
    if (this.#isStopped || this.#running.size >= this.#options.jobsMax) return Promise.resolve()
    const mine = this.#workOff(jobId).finally(() => this.#running.delete(jobId))
    this.#running.set(jobId, mine)
    return mine
  }

  async #poll(): Promise<void> {
    const { jobsMax, keptMs, log } = this.#options
    const { clock } = this.#deps
    try {
      for (const jobId of await findLeftJobs(this.#deps.pool, this.hold(), jobsMax)) {
        void this.run(jobId)
      }
      if (clock.hasJumped || clock.monotonicMs() - this.#cleanedAtMs <= 3_600_000) return
      this.#cleanedAtMs = clock.monotonicMs()
      await deleteOldJobs(this.#deps.pool, new Date(clock.nowMs() - keptMs))
    } catch (error) {
      if (!this.#isStopped) log.warn({ error: String(error) }, 'jobs.not-read')
    }
  }

  async #workOff(jobId: string): Promise<void> {
    const { againAfterMs, log } = this.#options
    let position = 0
    while (!this.#isStopped) {
      try {
        const chunk = await this.#workOffChunk(jobId, position)
        if (chunk.end === 'done') log.info({ jobId }, 'job.done')
        if (chunk.end !== null) return
        position = chunk.nextPosition ?? 0
        if (chunk.nextPosition === null) await this.#pause(againAfterMs)
      } catch (error) {
        log.warn({ jobId, error: String(error) }, 'job.chunk-failed')
        if (!(await this.#mayGoOn(jobId, error))) return
        await this.#pause(againAfterMs)
      }
    }
  }

  async #workOffChunk(jobId: string, position: number): Promise<Chunk> {
    const { engine, pool } = this.#deps
    const transact = () => inTransaction(pool, (db) => this.#transact(db, jobId, position))
    const chunk = await handOffAfterCommit(engine, transact, ({ replayed }) =>
      replayed.filter(isDue),
    )
    for (const { clientKey, endpointId, shard, retriedAtMs } of chunk.changed) {
      if (retriedAtMs) engine.endpointRetried(clientKey, endpointId, shard, retriedAtMs)
      else engine.endpointChanged(clientKey, endpointId, shard)
    }
    return chunk
  }

  async #transact(db: Db, jobId: string, position: number): Promise<Chunk> {
    const { chunkMax } = this.#options
    const hold = this.hold()
    const { now } = hold
    const job = await holdJob(db, jobId, hold)
    if (job === null) return NOTHING
    const chunk = await readItems(db, jobId, position, chunkMax)
    const items = takeTogether(job.kind, chunk.items)
    const nextPosition = chunk.items[items.length]?.position ?? chunk.nextPosition
    const { dealtWith, settled, ...effects } = await ACTS[job.kind](db, items, now, job.startedAt)
    await settleItems(db, jobId, settled, settled.length - dealtWith)
    const isDone = job.done + settled.length >= job.total || (position === 0 && items.length === 0)
    if (isDone) await finishJob(db, jobId, now)
    return { ...effects, nextPosition, end: isDone ? 'done' : null }
  }

  /** A database that is away says nothing about the job: a later poll, here or elsewhere, takes it up. */
  async #mayGoOn(jobId: string, error: unknown): Promise<boolean> {
    const { failuresMax, log } = this.#options
    if (isDatabaseAway(error)) return false
    try {
      const now = new Date(this.#deps.clock.nowMs())
      const isGivenUp = await noteFailure(this.#deps.pool, jobId, failuresMax, now)
      if (isGivenUp) log.warn({ jobId }, 'job.failed')
      return !isGivenUp
    } catch {
      return false
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms))
  }
}

interface Dealt {
  dealtWith: number
  settled: readonly JobItem[]
  replayed: readonly HandedOff[]
  changed: readonly ChangedLane[]
}

type Deal = (db: Db, items: readonly JobItem[], now: Date, startedAt: Date) => Promise<Dealt>

const ACTS: Readonly<Record<JobKind, Deal>> = {
  replay: replayItems,
  recover: replayItems,
  cancel: cancelItems,
  retry: retryItems,
  'replay-missing': makeItems,
}

/** What lies in history is dealt with a few days at a time. */
function takeTogether(kind: JobKind, items: readonly JobItem[]): readonly JobItem[] {
  if (kind === 'replay-missing') return takeMadeTogether(items)
  return kind === 'replay' || kind === 'recover' ? takeOfFewDays(items) : items
}

async function makeItems(
  db: Db,
  items: readonly JobItem[],
  now: Date,
  startedAt: Date,
): Promise<Dealt> {
  const replayed = await makeMissing(db, items, startedAt, now)
  // The others were made by another caller, or their endpoint or their event is gone.
  return { dealtWith: replayed.length, settled: items, replayed, changed: [] }
}

async function replayItems(db: Db, items: readonly JobItem[], now: Date): Promise<Dealt> {
  const replayed = await replayDeliveries(db, items, now)
  // Those that did not move were replayed by another caller, or their endpoint was deleted.
  return { dealtWith: replayed.length, settled: items, replayed, changed: [] }
}

async function cancelItems(db: Db, items: readonly JobItem[], now: Date): Promise<Dealt> {
  const cancelled = await cancelDeliveries(db, items, now, { isWaiting: false })
  const lanes = new Map(cancelled.map((lane) => [lane.endpointId, lane]))
  return dealtWith(db, items, items, cancelled, [...lanes.values()])
}

/** What an endpoint that is not active is owed has to wait, and is passed over. */
async function retryItems(db: Db, items: readonly JobItem[], now: Date): Promise<Dealt> {
  const lanes = await markRetried(db, items, now)
  const active = new Set(lanes.map(({ endpointId }) => endpointId))
  const tried = items.filter(({ endpointId }) => active.has(endpointId))
  const retried = await retryDeliveries(db, tried, now, { isWaiting: false })
  const retriedAtMs = now.getTime()
  return dealtWith(
    db,
    items,
    tried,
    retried,
    lanes.map((lane) => ({ ...lane, retriedAtMs })),
  )
}

/** Of `tried`, those that are pending and not `done` are being written by another transaction: they are retried. */
async function dealtWith(
  db: Db,
  items: readonly JobItem[],
  tried: readonly JobItem[],
  done: readonly { id: string }[],
  changed: readonly ChangedLane[],
): Promise<Dealt> {
  const ids = new Set(done.map(({ id }) => id))
  const others = tried.filter(({ id }) => !ids.has(id))
  const stillPending = await findStillPending(db, others)
  return {
    dealtWith: items.filter(({ id }) => ids.has(id)).length,
    settled: items.filter(({ id }) => !stillPending.has(id)),
    replayed: [],
    changed,
  }
}
