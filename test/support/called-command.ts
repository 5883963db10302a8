// A command of the command line by what it does: its words, its exit code. All commands of a test process are
// run by one process (command-host.ts), because starting Node and loading the commands takes ten times as long as most
// of them. How a process starts and ends, and what signals and pipes do to it, is for command-line.ts.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type CommandOptions, inheritedSettings, type Ran } from './command-line.ts'

const HOST = fileURLToPath(new URL('command-host.ts', import.meta.url))

/** What the host is sent; it answers with what became of it. */
export interface CalledCommand {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  input: string
}

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

/** One at a time: they share a process. */
export function callCommand(
  args: readonly string[],
  { env, input = '' }: Pick<CommandOptions, 'env'> & { input?: string } = {},
): Promise<Ran> {
  const called: CalledCommand = { args, env: { ...inheritedSettings(), ...env }, input }
  const ran = last.then(() => ask(called))
  last = ran.catch(() => {})
  return ran
}

async function ask(called: CalledCommand): Promise<Ran> {
  host ??= startHost()
  const current = host
  const answered = new AbortController()
  const { signal } = answered
  keepWaitingFor(current, true)
  current.send(called)
  try {
    const [ran] = await Promise.race([
      once(current, 'message', { signal }),
      once(current, 'exit', { signal }).then(([code]) => {
        host = undefined
        throw new Error(`${called.args.join(' ')} ended the process of all commands with ${code}`)
      }),
    ])
    return ran
  } finally {
    answered.abort()
    keepWaitingFor(current, false)
  }
}

/** It must keep no test process from ending while it has nothing to do. */
function keepWaitingFor(child: ChildProcess, isBusy: boolean): void {
  const method = isBusy ? 'ref' : 'unref'
  child[method]()
  child.channel?.[method]()
}

function startHost(): ChildProcess {
  return fork(HOST, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}
