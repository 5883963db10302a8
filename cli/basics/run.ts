// How a command runs: a failure is a sentence, not a stack, and an exit code: 0 done, 1 failed, 2 wrong
// usage; a command may have codes of its own.

import { CommanderError } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { ConfigError } from '../../server/core/plain/setting.ts'
import { UnreachableError } from './api.ts'
import { describeFault } from './describe-fault.ts'
import { problemText } from './problem-text.ts'
import { StopSignals } from './stop-signals.ts'
import { paintFor } from './terminal.ts'

/** The caller's mistake, seen before anything was done. */
export class UsageError extends Error {}

/** The command failed and has already printed why. */
export class SilentFailure extends Error {
  readonly exitCode: number

  constructor(exitCode = 1) {
    super()
    this.exitCode = exitCode
  }
}

export async function runCommand(work: () => Promise<void>, hasColour = false): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    if (!(error instanceof SilentFailure)) console.error(describe(error, hasColour))
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof SilentFailure) return error.exitCode
  const isUsage =
    error instanceof ConfigError || error instanceof UsageError || error instanceof CommanderError
  return isUsage ? 2 : 1
}

function describe(error: unknown, hasColour: boolean): string {
  const paint = paintFor(hasColour)
  if (error instanceof PaybellError && error.status >= 400) return problemText(error, paint)
  const name = paint.red('paybell:')
  if (error instanceof UnreachableError) {
    return `${name} ${error.message}\n  Start it, or say where the service is with --url or PAYBELL_URL.`
  }
  if (error instanceof AggregateError) return `${name} ${error.errors.map(String).join('; ')}`
  return `${name} ${describeFault(error)}`
}

/** Resolves with the first SIGINT or SIGTERM. Later ones change nothing: Ctrl-C under npm sends two. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new StopSignals().requested
}
