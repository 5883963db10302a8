#!/usr/bin/env node
// The command line. One file a command; program.ts names them.

import { CommanderError } from 'commander'
import { limitHeap } from './heap-limits.ts'

limitHeap()
// Only now: reading all of its modules is what makes the heap grow.
const { createProgram } = await import('./program.ts')

try {
  await createProgram().parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Wrong usage ends with 2; help and version with 0.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}
