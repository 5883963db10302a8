// An import from beginning to end: it reads batches of lines ahead while one layer is under way, and
// writes its position down after every answer.

import type { Api } from '../basics/api.ts'
import { UsageError } from '../basics/run.ts'
import { BadLines } from './bad-lines.ts'
import { type Batch, type BatchLimits, toBatches } from './batches.ts'
import type { Input } from './input.ts'
import { readLines } from './lines.ts'
import { type ImportCounts, type ImportProgress, writeProgress } from './progress-file.ts'
import { Interrupted, type LineOutcome, type SendPolicy, sendLines } from './send-lines.ts'

export interface ImportOptions {
  api: Api
  input: Input
  earlier: ImportProgress | null
  /** Null when nothing is written down: a stream that cannot be read twice. */
  statePath: string | null
  badPath: string | null
  patienceMs: number
  limits?: BatchLimits
  signal: AbortSignal
  tell: (text: string) => void
  onProgress: (progress: ImportProgress) => void
  onWait: SendPolicy['onWait']
}

export interface ImportResult {
  progress: ImportProgress
  isInterrupted: boolean
}

export async function importLines(options: ImportOptions): Promise<ImportResult> {
  const { api, input, earlier, signal } = options
  if (!input.isSame) {
    throw new UsageError(
      'the input is not the one that this import began with. Give --restart to start over, or another --state FILE.',
    )
  }
  const bad = await BadLines.open(options.badPath, earlier?.badBytes ?? 0, options.tell)
  let progress: ImportProgress = earlier ?? begin(api.url, input.head)
  let hasAnswered = false
  const save = async (changes: Partial<ImportProgress>) => {
    progress = { ...progress, ...changes, badBytes: bad.bytes, updatedAt: new Date().toISOString() }
    if (options.statePath !== null) await writeProgress(options.statePath, progress)
    options.onProgress(progress)
  }
  const policy: SendPolicy = {
    patienceMs: options.patienceMs,
    onWait: options.onWait,
    signal,
    hasAnswered: () => hasAnswered,
  }
  const start = { line: progress.line, offset: progress.offset }
  const batches = toBatches(
    readLines(input.chunks, start),
    start,
    progress.window?.end ?? null,
    options.limits,
  )
  try {
    for await (const batch of ahead(batches)) {
      const roundsDone = progress.window?.roundsDone ?? 0
      for (const [index, lines] of batch.layers.entries()) {
        if (index < roundsDone) continue
        if (signal.aborted) throw new Interrupted()
        const outcomes = await sendLines(api, lines, policy)
        hasAnswered = true
        await bad.add(outcomes)
        const counts = add(progress.counts, outcomes)
        const isLast = index === batch.layers.length - 1
        await save(isLast ? { counts, ...after(batch) } : { counts, window: within(batch, index) })
      }
      // A batch of blank lines has no layers.
      if (batch.layers.length === 0) await save(after(batch))
    }
    await save({ isFinished: true })
    return { progress, isInterrupted: false }
  } catch (error) {
    if (error instanceof Interrupted) return { progress, isInterrupted: true }
    throw error
  } finally {
    await bad.close()
  }
}

function begin(service: string, head: ImportProgress['head']): ImportProgress {
  return {
    version: 1,
    service,
    head,
    offset: 0,
    line: 0,
    window: null,
    badBytes: 0,
    counts: { lines: 0, events: 0, unchanged: 0, bad: 0 },
    isFinished: false,
    updatedAt: '',
  }
}

function after(batch: Batch): Pick<ImportProgress, 'offset' | 'line' | 'window'> {
  return { offset: batch.end.offset, line: batch.end.line, window: null }
}

function within(batch: Batch, index: number): ImportProgress['window'] {
  return { end: batch.end.offset, roundsDone: index + 1 }
}

function add(counts: ImportCounts, outcomes: readonly LineOutcome[]): ImportCounts {
  const count = (kind: LineOutcome['kind']) =>
    outcomes.reduce((sum, outcome) => sum + (outcome.kind === kind ? 1 : 0), 0)
  return {
    lines: counts.lines + outcomes.length,
    events: counts.events + count('event'),
    unchanged: counts.unchanged + count('unchanged'),
    bad: counts.bad + count('bad'),
  }
}

/** Reads one batch ahead of the one that is being sent, and no more. */
async function* ahead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = items.next()
      // The next await reports its failure; without this Node would call it unhandled.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await items.return(undefined)
  }
}
