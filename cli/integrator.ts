#!/usr/bin/env node
// The command line of an integrator: the commands that need no more than a service's address and a client's
// own credentials. It is published apart from the service, as @paybell/cli.

import { Command } from 'commander'
import { checkCommand } from './check.ts'
import { helpText } from './command.ts'
import { listenCommand } from './listen.ts'
import { runProgram, withManners } from './manners.ts'
import { receiveCommand } from './receive.ts'
import { signatureCommand } from './signature.ts'
import { VERSION } from './version.ts'
import { webhooksCommand } from './webhooks.ts'

const program = new Command('paybell')
  .description('Receive, try out and look into the webhooks of a Paybell service.')
  .version(VERSION)
  .addCommand(listenCommand())
  .addCommand(webhooksCommand())
  .addCommand(checkCommand())
  .addCommand(signatureCommand())
  .addCommand(receiveCommand())
  .addHelpText('after', helpText(['paybell listen --forward-to http://127.0.0.1:3000/webhooks']))

await runProgram(withManners(program))
