#!/usr/bin/env node
// The whole command line. One file a command; program.ts names them.

import { runProgram } from './manners.ts'
import { createProgram } from './program.ts'

await runProgram(createProgram())
