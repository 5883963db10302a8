// Every command under its name. Building it loads no service: that happens when one is asked for.

import { Command } from 'commander'
import { helpText } from './basics/command.ts'
import { VERSION } from './basics/version.ts'
import { completionCommand } from './client/completion.ts'
import { deliveriesCommand } from './client/deliveries.ts'
import { eventsCommand } from './client/events.ts'
import { findCommand } from './client/find.ts'
import { loginCommand, logoutCommand, profilesCommand } from './client/login.ts'
import { mcpCommand } from './client/mcp.ts'
import { noticesCommand } from './client/notices.ts'
import { openCommand } from './client/open.ts'
import { paymentsCommand } from './client/payments.ts'
import { receiptCommand } from './client/receipt.ts'
import { reconcileCommand } from './client/reconcile.ts'
import { subscriptionsCommand } from './client/subscriptions.ts'
import { webhooksCommand } from './client/webhooks.ts'
import { withManners } from './manners.ts'
import { accountsCommand } from './operator/accounts.ts'
import { auditCommand } from './operator/audit.ts'
import { cellsCommand } from './operator/cells.ts'
import { certificatesCommand } from './operator/certificates.ts'
import { clientsCommand } from './operator/clients.ts'
import { demoCommand } from './operator/demo.ts'
import { doctorCommand } from './operator/doctor.ts'
import { endpointsCommand } from './operator/endpoints.ts'
import { jobsCommand } from './operator/jobs.ts'
import { keysCommand } from './operator/keys.ts'
import { recoverCommand } from './operator/recover.ts'
import {
  migrateCommand,
  resealCommand,
  routeCommand,
  sandboxCommand,
  serveCommand,
  signingKeysCommand,
  webhookKeysCommand,
} from './operator/service-commands.ts'
import { triggerCommand } from './operator/trigger.ts'
import { checkCommand } from './receiving/check.ts'
import { listenCommand } from './receiving/listen.ts'
import { receiveCommand } from './receiving/receive.ts'
import { signatureCommand } from './receiving/signature.ts'

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
    .addCommand(certificatesCommand())
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
