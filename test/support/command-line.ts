// The command line as people and scripts run it: a process of its own, without a terminal, with only
// the settings that a test gives it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'
import { limitOf, PATIENCE_MS } from './busy-machine.ts'
import { COMPILED } from './compile-cache.ts'
import type { Owner } from './owner.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

export interface Ran {
  code: number | NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Started {
  process: ChildProcess
  stdout(): string
  stderr(): string
  ended: Promise<Ran>
  /** Waits until it has printed this, on stdout or stderr. */
  hasPrinted(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>
}

export interface CommandOptions {
  env?: Readonly<Record<string, string>>
  input?: string | Buffer
  cwd?: string
}

/** Starts `paybell …` and waits for nothing; ends it, if it still runs, after the test. */
export function startCommand(
  t: Owner,
  args: readonly string[],
  options: CommandOptions = {},
): Started {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], {
    env: { ...inheritedSettings(), NODE_COMPILE_CACHE: COMPILED, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd ? { cwd: options.cwd } : {}),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    child.emit('printed')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    child.emit('printed')
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code ?? signal,
    stdout,
    stderr,
  }))
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    async hasPrinted(pattern, limitMs = PATIENCE_MS) {
      const signal = AbortSignal.timeout(limitOf(limitMs))
      for (;;) {
        const found = pattern.exec(stdout) ?? pattern.exec(stderr)
        if (found) return found
        await once(child, 'printed', { signal }).catch(() => {
          throw new Error(`${args.join(' ')} has not printed ${pattern}:\n${stdout}${stderr}`)
        })
      }
    },
  }
}

/** A process of its own; where only its words matter, callCommand is quicker. */
export function runCommand(
  t: Owner,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Ran> {
  return startCommand(t, args, options).ended
}

/** Without those that the machine of the tests happens to have. */
export function inheritedSettings(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$|NODE_TEST_CONTEXT|NO_COLOR|FORCE_COLOR)/.test(name),
    ),
  )
}
