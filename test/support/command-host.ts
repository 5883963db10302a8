// A process that runs commands of the command line one after another, as called-command.ts hands them in: each with
// the environment, stdin, stdout and exit code that a process of its own would have.

import { Readable } from 'node:stream'
import { runProgram } from '../../cli/manners.ts'
import { createProgram } from '../../cli/program.ts'
import type { CalledCommand } from './called-command.ts'
import type { Ran } from './command-line.ts'

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
  await runProgram(createProgram())
  // Each command listens for a reader that goes early.
  for (const name of OUTPUTS) process[name].removeAllListeners('error')
  ran.code = Number(process.exitCode)
  process.exitCode = 0
  return ran
}
