// A process that runs commands of the command line one after another, as called-command.ts hands them in: each with
// the environment, stdin, stdout and exit code that a process of its own would have. It answers when such a process
// would end: once nothing is left that would keep it, such as an open connection to a database.

import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { runProgram } from '../../cli/manners.ts'
import { createProgram } from '../../cli/program.ts'
import { limitOf, PATIENCE_MS } from './busy-machine.ts'
import type { CalledCommand } from './called-command.ts'
import type { Ran } from './command-line.ts'

const writeError = process.stderr.write.bind(process.stderr)
const OUTPUTS = ['stdout', 'stderr'] as const

process.on('message', async ({ args, env, input }: CalledCommand) => {
  process.send?.(await run(args, env, input))
})
process.once('disconnect', () => process.exit())

async function run(args: readonly string[], env: NodeJS.ProcessEnv, input: string): Promise<Ran> {
  process.env = env
  process.argv.splice(2, Infinity, ...args)
  process.exitCode = 0
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)])
  Object.defineProperty(process, 'stdin', { configurable: true, value: stdin })
  const ran: Ran = { code: 0, stdout: '', stderr: '' }
  for (const name of OUTPUTS) {
    process[name].write = (text: string | Uint8Array) => {
      ran[name] += Buffer.from(text).toString()
      return true
    }
  }
  const before = countOpen()
  await runProgram(createProgram())
  await untilNoMoreThan(before, args)
  // Each command listens for a reader that goes early.
  for (const name of OUTPUTS) process[name].removeAllListeners('error')
  ran.code = Number(process.exitCode)
  process.exitCode = 0
  return ran
}

/** What keeps this process from ending, by its kind. */
function countOpen(): ReadonlyMap<string, number> {
  const open = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) open.set(kind, (open.get(kind) ?? 0) + 1)
  return open
}

/** A command that leaves something open would hang, and ends this process, which fails its test. */
async function untilNoMoreThan(
  before: ReadonlyMap<string, number>,
  args: readonly string[],
): Promise<void> {
  for (const startedAt = performance.now(); ; await delay(5)) {
    const left = [...countOpen()].filter(([kind, count]) => count > (before.get(kind) ?? 0))
    if (left.length === 0) return
    if (performance.now() - startedAt < limitOf(PATIENCE_MS)) continue
    const kinds = left.map(([kind, count]) => `${count} ${kind}`).join(', ')
    writeError(`paybell ${args.join(' ')} does not end: ${kinds} left open\n`)
    process.exit(1)
  }
}
