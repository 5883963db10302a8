// What all programs of the command line have in common: how they fail, and where --json may stand.

import { type Command, CommanderError } from 'commander'
import { JSON_HELP, leaveQuietlyWhenNobodyReads } from './basics/command.ts'

/** Makes wrong usage throw instead of exit, so that it ends in one place, whichever command noticed it. */
export function withManners(program: Command): Command {
  for (const command of withCommands(program)) {
    command.exitOverride().showHelpAfterError('Add --help to see what it takes.')
    // `paybell --json clients list` means what `paybell clients list --json` means.
    if (command.commands.length > 0) command.enablePositionalOptions().option('--json', JSON_HELP)
  }
  // Help is printed without a command that would see to it.
  return program.addHelpText('beforeAll', () => {
    leaveQuietlyWhenNobodyReads()
    return ''
  })
}

/** Wrong usage ends with 2; help and version with 0. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? 0 : 2
  }
}

/** The command and all below it. */
export function withCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommands)]
}
