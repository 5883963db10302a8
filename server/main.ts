#!/usr/bin/env node
// The command line. One file a command under cli/; this one only names them.

import { Command } from 'commander'
import { migrateCommand } from './cli/migrate.ts'
import { sandboxCommand } from './cli/sandbox.ts'
import { serveCommand } from './cli/serve.ts'
import { VERSION } from './version.ts'

const program = new Command('paybell')
  .description('Tells people, reliably, that a payment has changed.')
  .version(VERSION)
  .addCommand(sandboxCommand())
  .addCommand(serveCommand())
  .addCommand(migrateCommand())
  .addHelpText('after', '\nThe settings are environment variables: see .env.example.')

await program.parseAsync()
