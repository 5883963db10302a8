#!/usr/bin/env node
// The command line of an integrator: the commands that need no more than a service's address and a client's
// own credentials. It is published apart from the service, as @paybell/cli.

import { Command } from 'commander'
import { checkCommand } from './check.ts'
import { helpText } from './command.ts'
import { completionCommand } from './completion.ts'
import { ownDeliveriesCommand } from './deliveries.ts'
import { eventsCommand } from './events.ts'
import { findCommand } from './find.ts'
import { listenCommand } from './listen.ts'
import { loginCommand, logoutCommand, profilesCommand } from './login.ts'
import { runProgram, withManners } from './manners.ts'
import { mcpCommand } from './mcp.ts'
import { noticesCommand } from './notices.ts'
import { openCommand } from './open.ts'
import { ownPaymentsCommand } from './payments.ts'
import { receiptCommand } from './receipt.ts'
import { receiveCommand } from './receive.ts'
import { reconcileCommand } from './reconcile.ts'
import { signatureCommand } from './signature.ts'
import { subscriptionsCommand } from './subscriptions.ts'
import { VERSION } from './version.ts'
import { webhooksCommand } from './webhooks.ts'

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
