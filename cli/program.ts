// Every command under its name. Building it loads no service: that happens when one is asked for.

import { Command } from 'commander'
import { accountsCommand } from './accounts.ts'
import { checkCommand } from './check.ts'
import { clientsCommand } from './clients.ts'
import { helpText, JSON_HELP } from './command.ts'
import { deliveriesCommand } from './deliveries.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { endpointsCommand } from './endpoints.ts'
import { keysCommand } from './keys.ts'
import { listenCommand } from './listen.ts'
import { paymentsCommand } from './payments.ts'
import { receiveCommand } from './receive.ts'
import { recoverCommand } from './recover.ts'
import {
  migrateCommand,
  resealCommand,
  sandboxCommand,
  serveCommand,
  signingKeysCommand,
} from './service-commands.ts'
import { signatureCommand } from './signature.ts'
import { triggerCommand } from './trigger.ts'
import { VERSION } from './version.ts'
import { webhooksCommand } from './webhooks.ts'

export function createProgram(): Command {
  const program = new Command('paybell')
    .description('Tells people, reliably, that a payment has changed.')
    .version(VERSION)
    .commandsGroup('Run it:')
    .addCommand(sandboxCommand())
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(resealCommand())
    .addCommand(signingKeysCommand())
    .addCommand(doctorCommand())
    .addCommand(demoCommand())
    .commandsGroup('Operate it:')
    .addCommand(clientsCommand())
    .addCommand(accountsCommand())
    .addCommand(keysCommand())
    .addCommand(paymentsCommand())
    .addCommand(endpointsCommand())
    .addCommand(deliveriesCommand())
    .addCommand(recoverCommand())
    .commandsGroup('Integrate with it:')
    .addCommand(webhooksCommand())
    .addCommand(listenCommand())
    .addCommand(receiveCommand())
    .addCommand(triggerCommand())
    .addCommand(signatureCommand())
    .addCommand(checkCommand())
    .addHelpText('after', helpText(['paybell demo', 'paybell trigger', 'paybell deliveries list']))
    .addHelpText('after', '\nThe settings are environment variables: see .env.example.')
  // Throw instead of exiting: main.ts ends with 2 for wrong usage, whichever command noticed it.
  for (const command of withCommands(program)) {
    command.exitOverride().showHelpAfterError('Add --help to see what it takes.')
    // `paybell --json clients list` means what `paybell clients list --json` means.
    if (command.commands.length > 0) command.enablePositionalOptions().option('--json', JSON_HELP)
  }
  return program
}

/** The command and all below it. */
export function withCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommands)]
}
