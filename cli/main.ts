#!/usr/bin/env node
// The command line. One file a command; program.ts names them.

import { CommanderError } from 'commander'
import { createProgram } from './program.ts'

try {
  await createProgram().parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Wrong usage ends with 2; help and version with 0.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}
