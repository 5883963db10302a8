// Every command under its name. Building it loads no service: that happens when one is asked for.

import { Command } from 'commander'
import { accountsCommand } from './accounts.ts'
import { auditCommand } from './audit.ts'
import { cellsCommand } from './cells.ts'
import { checkCommand } from './check.ts'
import { clientsCommand } from './clients.ts'
import { helpText } from './command.ts'
import { completionCommand } from './completion.ts'
import { deliveriesCommand } from './deliveries.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { endpointsCommand } from './endpoints.ts'
import { eventsCommand } from './events.ts'
import { findCommand } from './find.ts'
import { jobsCommand } from './jobs.ts'
import { keysCommand } from './keys.ts'
import { listenCommand } from './listen.ts'
import { loginCommand, logoutCommand, profilesCommand } from './login.ts'
import { withManners } from './manners.ts'
import { mcpCommand } from './mcp.ts'
import { noticesCommand } from './notices.ts'
import { openCommand } from './open.ts'
import { paymentsCommand } from './payments.ts'
import { receiptCommand } from './receipt.ts'
import { receiveCommand } from './receive.ts'
import { reconcileCommand } from './reconcile.ts'
import { recoverCommand } from './recover.ts'
import {
  migrateCommand,
  resealCommand,
  routeCommand,
  sandboxCommand,
  serveCommand,
  signingKeysCommand,
  webhookKeysCommand,
} from './service-commands.ts'
import { signatureCommand } from './signature.ts'
import { subscriptionsCommand } from './subscriptions.ts'
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
    .addCommand(webhookKeysCommand())
    .addCommand(cellsCommand())
    .addCommand(routeCommand())
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
    .addCommand(jobsCommand())
    .addCommand(auditCommand())
    .addCommand(findCommand())
    .addCommand(openCommand())
    .commandsGroup('Integrate with it:')
    .addCommand(webhooksCommand())
    .addCommand(subscriptionsCommand())
    .addCommand(noticesCommand())
    .addCommand(eventsCommand())
    .addCommand(listenCommand())
    .addCommand(receiveCommand())
    .addCommand(triggerCommand())
    .addCommand(signatureCommand())
    .addCommand(receiptCommand())
    .addCommand(reconcileCommand())
    .addCommand(checkCommand())
    .addCommand(mcpCommand())
    .commandsGroup('On this machine:')
    .addCommand(loginCommand())
    .addCommand(logoutCommand())
    .addCommand(profilesCommand())
    .addCommand(completionCommand())
    .addHelpText('after', helpText(['paybell demo', 'paybell trigger', 'paybell deliveries list']))
    .addHelpText('after', '\nThe settings are environment variables: see .env.example.')
  return withManners(program)
}
