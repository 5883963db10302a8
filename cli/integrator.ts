#!/usr/bin/env node
// The command line of an integrator: the commands that need no more than a service's address and a client's
// own credentials. It is published apart from the service, as @paybell/cli.

import { Command } from 'commander'
import { helpText } from './basics/command.ts'
import { VERSION } from './basics/version.ts'
import { completionCommand } from './client/completion.ts'
import { ownDeliveriesCommand } from './client/deliveries.ts'
import { eventsCommand } from './client/events.ts'
import { findCommand } from './client/find.ts'
import { loginCommand, logoutCommand, profilesCommand } from './client/login.ts'
import { mcpCommand } from './client/mcp.ts'
import { noticesCommand } from './client/notices.ts'
import { openCommand } from './client/open.ts'
import { ownPaymentsCommand } from './client/payments.ts'
import { receiptCommand } from './client/receipt.ts'
import { reconcileCommand } from './client/reconcile.ts'
import { subscriptionsCommand } from './client/subscriptions.ts'
import { webhooksCommand } from './client/webhooks.ts'
import { runProgram, withManners } from './manners.ts'
import { checkCommand } from './receiving/check.ts'
import { listenCommand } from './receiving/listen.ts'
import { receiveCommand } from './receiving/receive.ts'
import { signatureCommand } from './receiving/signature.ts'

const program = new Command('paybell')
  .description('Receive, try out and look into the webhooks of a Paybell service.')
  .version(VERSION)
  .commandsGroup('Receive:')
  .addCommand(listenCommand())
  .addCommand(webhooksCommand())
  .addCommand(subscriptionsCommand())
  .addCommand(noticesCommand())
  .commandsGroup('Try out:')
  .addCommand(checkCommand())
  .addCommand(signatureCommand())
  .addCommand(receiptCommand())
  .addCommand(reconcileCommand())
  .addCommand(receiveCommand())
  .commandsGroup('Look into:')
  .addCommand(findCommand())
  .addCommand(openCommand())
  .addCommand(ownPaymentsCommand())
  .addCommand(ownDeliveriesCommand())
  .addCommand(eventsCommand())
  .addCommand(mcpCommand())
  .commandsGroup('On this machine:')
  .addCommand(loginCommand())
  .addCommand(logoutCommand())
  .addCommand(profilesCommand())
  .addCommand(completionCommand())
  .addHelpText(
    'after',
    helpText([
      'paybell login --url https://payments.example.com',
      'paybell listen --forward-to http://127.0.0.1:3000/webhooks',
    ]),
  )

await runProgram(withManners(program))
