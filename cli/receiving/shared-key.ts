// Where a shared key comes from: an argument, a file (other people can read a command line), a setting,
// or nowhere yet.

import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import type { Call } from '../basics/command.ts'
import { readGivenText } from '../basics/given-file.ts'
import { UsageError } from '../basics/run.ts'

export interface SharedKeyOptions {
  sharedKey?: string
  sharedKeyFile?: string
}

export function withSharedKey(command: Command): Command {
  return command
    .option('--shared-key <key>', 'the shared key (PAYBELL_SHARED_KEY)')
    .option('--shared-key-file <file>', 'file with the shared key; a newline at its end is dropped')
}

export interface NewKeyOptions extends SharedKeyOptions {
  generateKey?: boolean
}

/** For a command that may also make one. */
export function withNewKey(command: Command): Command {
  return withSharedKey(command).option('--generate-key', 'make a shared key and print it')
}

/** The given one, or a new one where that was asked for. */
export async function chooseSharedKey(call: Call<NewKeyOptions>): Promise<string> {
  const { generateKey, sharedKey, sharedKeyFile } = call.options
  if (!generateKey) return requireSharedKey(call)
  if ((sharedKey ?? sharedKeyFile) !== undefined) {
    throw new UsageError('give a shared key or --generate-key, not both.')
  }
  return generateSharedKey()
}

export async function findSharedKey(call: Call<SharedKeyOptions>): Promise<string | null> {
  const { sharedKey, sharedKeyFile } = call.options
  if (sharedKey !== undefined && sharedKeyFile !== undefined) {
    throw new UsageError('give --shared-key or --shared-key-file, not both.')
  }
  if (sharedKey !== undefined) hintAtArgument(call, '--shared-key')
  if (sharedKeyFile === undefined) return sharedKey ?? call.target.config.sharedKey
  const text = await readGivenText(sharedKeyFile)
  return text.replace(/\r?\n$/, '')
}

/** A secret among the arguments stays possible, for tries and examples; whoever types it is told who can read it. */
export function hintAtArgument(call: Call, option: string): void {
  const setting = `PAYBELL_${option.slice(2).replaceAll('-', '_').toUpperCase()}`
  call.hint(`Others on this machine can read ${option}. Use ${option}-file or ${setting} instead.`)
}

export async function requireSharedKey(call: Call<SharedKeyOptions>): Promise<string> {
  const key = await findSharedKey(call)
  if (key === null || key === '') {
    throw new UsageError(
      'no shared key is given. Use --shared-key, --shared-key-file or PAYBELL_SHARED_KEY.',
    )
  }
  return key
}

export function generateSharedKey(): string {
  return randomBytes(32).toString('base64url')
}
