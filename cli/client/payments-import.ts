// `paybell payments import`: a file of NDJSON of any length, in bounded memory. After an interruption,
// even kill -9, the same command goes on where it stopped and makes no event twice.

import { access } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Call, calling, operatorCommand } from '../basics/command.ts'
import { describeFault } from '../basics/describe-fault.ts'
import { durationOption } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { formatCount, formatDuration, plural } from '../basics/terminal.ts'
import { importLines } from '../import/import-lines.ts'
import { type Input, openFile, openStream } from '../import/input.ts'
import { type ImportProgress, lockProgress, readProgress } from '../import/progress-file.ts'
import { ProgressLine } from '../import/progress-line.ts'

interface ImportCommandOptions {
  state?: string
  bad?: string
  restart?: boolean
  patience: number
}

export function paymentsImportCommand(): Command {
  return operatorCommand(
    'import',
    'Import an NDJSON file: one payment per line, with its accountId.',
    [
      'paybell payments import payments.ndjson',
      'paybell payments import payments.ndjson --bad refused.ndjson',
      'zcat payments.ndjson.gz | paybell payments import - --state payments.state',
    ],
  )
    .argument('<file>', 'the lines; - reads them from stdin')
    .option('--state <file>', 'file that keeps the progress (default: <file>.import)')
    .option('--bad <file>', 'also write refused lines, with their problems, to this file')
    .option('--restart', 'start over, even if an earlier import was not finished')
    .addOption(
      durationOption('--patience <span>', 'how long to wait for a service that is away', '10m'),
    )
    .addHelpText(
      'after',
      '\nRun again after an interruption, it continues where it stopped. A bad line never stops it;\n' +
        'the exit code is 1 when there was one. Lines of one payment are applied in their order.',
    )
    .action(calling(importPayments))
}

async function importPayments(call: Call<ImportCommandOptions>, file: string): Promise<void> {
  const api = await call.operator()
  const statePath = call.options.state ?? (file === '-' ? null : `${file}.import`)
  if (file !== '-') await mustBeReadable(file)
  const unlock = statePath === null ? async () => {} : await lockProgress(statePath)
  try {
    const earlier =
      statePath === null || call.options.restart ? null : await readProgress(statePath)
    if (earlier !== null && earlier.service !== api.url) {
      throw new UsageError(
        `${statePath} is about an import into ${earlier.service}. Give --restart to start over, or another --state FILE.`,
      )
    }
    const input =
      file === '-' ? await openStream(process.stdin, earlier) : await openFile(file, earlier)
    await importFile(call, { api, input, earlier, statePath })
  } finally {
    await unlock()
  }
}

async function mustBeReadable(file: string): Promise<void> {
  await access(file).catch((error: Error) => {
    throw new UsageError(describeFault(error))
  })
}

interface Prepared {
  api: Parameters<typeof importLines>[0]['api']
  input: Input
  earlier: ImportProgress | null
  statePath: string | null
}

async function importFile(call: Call<ImportCommandOptions>, prepared: Prepared): Promise<void> {
  const { earlier, input } = prepared
  const startedAtMs = performance.now()
  const view = (progress: ImportProgress) => ({
    lines: progress.counts.lines,
    bad: progress.counts.bad,
    fraction: input.bytesTotal === null ? null : progress.offset / Math.max(1, input.bytesTotal),
  })
  if (earlier !== null && earlier.offset > 0) {
    call.note(
      `Continuing after line ${formatCount(earlier.line)}, where an earlier import stopped.`,
    )
  }
  const line = new ProgressLine(
    process.stderr,
    earlier === null ? { lines: 0, bad: 0, fraction: 0 } : view(earlier),
  )
  const tell = (text: string) => {
    line.clear()
    process.stderr.write(`${text}\n`)
  }
  const { signal, stop } = stopOnSignal(() =>
    tell('Stopping after the lines that are under way. Again to stop at once.'),
  )
  try {
    const { progress, isInterrupted } = await importLines({
      ...prepared,
      badPath: call.options.bad ?? null,
      patienceMs: call.options.patience,
      signal,
      tell,
      onProgress: (now) => line.show(view(now)),
      onWait: (seconds, why) => tell(`Waiting ${seconds} s: ${why}`),
    })
    line.clear()
    report(call, prepared, progress, isInterrupted, performance.now() - startedAtMs)
    if (isInterrupted || progress.counts.bad > 0) throw new SilentFailure()
  } catch (error) {
    line.clear()
    if (prepared.statePath !== null && !(error instanceof SilentFailure)) {
      call.note('Run the same command again to continue.')
    }
    throw error
  } finally {
    stop()
  }
}

function report(
  call: Call,
  { earlier, statePath }: Prepared,
  progress: ImportProgress,
  isInterrupted: boolean,
  elapsedMs: number,
): void {
  const { counts } = progress
  if (call.isJson) {
    const resumedBehindLine = earlier !== null && earlier.offset > 0 ? earlier.line : null
    call.print(
      JSON.stringify({
        finished: !isInterrupted,
        ...counts,
        line: progress.line,
        resumedBehindLine,
        seconds: Number((elapsedMs / 1_000).toFixed(3)),
      }),
    )
    return
  }
  if (earlier?.isFinished && progress.offset === earlier.offset) {
    call.print(`Nothing new: all ${plural(counts.lines, 'line')} were imported before.`)
    call.note('To send them all again: --restart')
    return
  }
  const lines = earlier === null ? counts.lines : counts.lines - earlier.counts.lines
  call.print(
    `${plural(lines, 'line')} in ${formatDuration(elapsedMs)}: ` +
      `${plural(counts.events - (earlier?.counts.events ?? 0), 'event')}, ` +
      `${formatCount(counts.unchanged - (earlier?.counts.unchanged ?? 0))} unchanged, ` +
      `${formatCount(counts.bad - (earlier?.counts.bad ?? 0))} bad.`,
  )
  if (isInterrupted) {
    call.note(
      statePath === null
        ? `Stopped after line ${formatCount(progress.line)}.`
        : `Stopped after line ${formatCount(progress.line)}. Run the same command again to continue.`,
    )
  }
}

/** The first signal lets what is under way be answered; the second one does not. */
function stopOnSignal(onFirst: () => void): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1)
    controller.abort()
    onFirst()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal)
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal)
    },
  }
}
