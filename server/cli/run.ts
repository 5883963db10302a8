// How a command runs: what goes wrong is told in a sentence, not as a stack, and the exit code says it.

import { ConfigError } from '../config.ts'

export async function runCommand(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    console.error(error instanceof ConfigError ? `paybell: ${error.message}` : describe(error))
    process.exitCode = error instanceof ConfigError ? 2 : 1
  }
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return `paybell: ${error.errors.map(String).join('; ')}`
  return `paybell: ${error instanceof Error ? error.message : String(error)}`
}

/** Resolves with the first SIGINT or SIGTERM. Later ones change nothing: Ctrl-C under npm sends two. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isAsked = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isAsked) return
        isAsked = true
        resolve(signal)
      })
    }
  })
}
