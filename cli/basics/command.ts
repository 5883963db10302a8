// What all commands that call a service have in common: their options, where data and hints go, and
// how they end. Data goes to stdout and nothing else does, so that it can be piped.

import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import type { Answer, Api } from './api.ts'
import { webUrl } from './parse.ts'
import { runCommand, SilentFailure, UsageError } from './run.ts'
import { isColourRefused, loadCallerConfig } from './settings.ts'
import { Target, type TargetOptions } from './target.ts'
import {
  type Cell,
  type Column,
  formatFields,
  formatTable,
  type Paint,
  paintFor,
} from './terminal.ts'

export const JSON_HELP = 'print JSON on stdout, for scripts'

export interface CommonOptions extends TargetOptions {
  json?: boolean
}

/** What a running command has at hand. */
export class Call<O = unknown> {
  readonly options: O & CommonOptions
  readonly target: Target
  readonly isJson: boolean
  /** For what goes to stdout, and for what goes to stderr: each may be a terminal or not. */
  readonly paint: Paint
  readonly notePaint: Paint

  constructor(options: O & CommonOptions) {
    const config = loadCallerConfig(process.env)
    this.options = options
    this.isJson = options.json === true
    this.paint = paintFor(hasColour(process.stdout))
    this.notePaint = paintFor(hasColour(process.stderr))
    this.target = new Target(
      config,
      options,
      (text) => this.note(text),
      (text) => this.hint(text),
    )
  }

  operator(): Promise<Api> {
    return this.target.operator()
  }

  /** Data. */
  print(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** Hints and progress. */
  note(text: string): void {
    process.stderr.write(`${this.notePaint.dim(text)}\n`)
  }

  /** What only a person wants to know. */
  hint(text: string): void {
    if (process.stderr.isTTY === true && !this.isJson) this.note(text)
  }

  /** The answer as it came with --json, and otherwise as `show` puts it. */
  answer<T>(answer: Answer, show: (value: T) => void): void {
    if (this.isJson) this.print(answer.text)
    else show(answer.json<T>())
  }

  table<T>(columns: readonly Column<T>[], items: readonly T[], empty: string): void {
    if (items.length === 0) this.note(empty)
    else this.print(formatTable(columns, items, this.paint))
  }

  fields(fields: readonly (readonly [string, Cell])[]): void {
    this.print(formatFields(fields, this.paint))
  }

  /**
   * Goes on where `--yes` is given or a person agrees. Where nobody can be asked a script has said what it wants,
   * unless nothing brings it back: for that it must say `--yes`.
   */
  async confirm(question: string, isForGood = false): Promise<void> {
    const { yes } = this.options as { yes?: boolean }
    if (yes) return
    const canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true && !this.isJson
    if (!canAsk && isForGood) {
      throw new UsageError(
        'this cannot be undone, and no one can be asked here: add --yes to do it',
      )
    }
    if (!canAsk || (await this.#agrees(question))) return
    this.note('Nothing was done.')
    throw new SilentFailure()
  }

  async #agrees(question: string): Promise<boolean> {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
    } finally {
      lines.close()
    }
  }
}

/** A command with its examples, which are the first thing that people look for. */
export function plainCommand(name: string, about: string, examples: readonly string[]): Command {
  return new Command(name).description(about).addHelpText('after', helpText(examples))
}

/** One that calls a service. */
export function callCommand(name: string, about: string, examples: readonly string[]): Command {
  return plainCommand(name, about, examples)
    .option('--json', JSON_HELP)
    .option('--url <url>', 'address of the service (PAYBELL_URL)', webUrl)
    .option('--profile <name>', 'a service that you are signed in to (PAYBELL_PROFILE)')
}

/** One that speaks as the operator. */
export function operatorCommand(name: string, about: string, examples: readonly string[]): Command {
  return callCommand(name, about, examples).option(
    '--key-file <file>',
    'file with the operator key (PAYBELL_OPERATOR_KEY)',
  )
}

/** One that the operator and a client may call, each for what is theirs. */
export function readerCommand(name: string, about: string, examples: readonly string[]): Command {
  return operatorCommand(name, about, examples).addHelpText(
    'after',
    '\nIt speaks as the operator where an operator key is set, and as the client of PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET (or PAYBELL_CLIENT_KEY_FILE) where those are. Both come before what a sandbox or a profile has.',
  )
}

export function helpText(examples: readonly string[]): string {
  const word = examples.length === 1 ? 'Example' : 'Examples'
  return `\n${word}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`
}

/** A family of commands: `paybell clients …`. */
export function family(name: string, about: string, commands: readonly Command[]): Command {
  const parent = new Command(name).description(about)
  for (const command of commands) parent.addCommand(command)
  return parent
}

/** Wraps an action for commander, which hands over the arguments, the options and the command. */
export function calling<O, A extends readonly unknown[] = []>(
  work: (call: Call<O>, ...given: A) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command
    leaveQuietlyWhenNobodyReads()
    await runCommand(async () => {
      const call = new Call<O>(command.optsWithGlobals() as O & CommonOptions)
      await work(call, ...(given.slice(0, -2) as unknown as A))
    }, hasColour(process.stderr))
  }
}

function hasColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !isColourRefused(process.env)
}

/** `paybell … | head` closes our stdout early. That is no failure. */
export function leaveQuietlyWhenNobodyReads(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.off('error', leaveUnlessItMatters).on('error', leaveUnlessItMatters)
  }
}

function leaveUnlessItMatters(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

export function required<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new UsageError(message)
  return value
}
