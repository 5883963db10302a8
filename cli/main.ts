#!/usr/bin/env node
// The whole command line. One file a command; program.ts names them. What is the service is started without the others:
// a process that is started again should soon be ready, and to load them takes as long as a quarter of the rest.

import { Command } from 'commander'
import { runProgram, withManners } from './manners.ts'
import { routeCommand, sandboxCommand, serveCommand } from './operator/service-commands.ts'

const SERVICES = new Map([
  ['route', routeCommand],
  ['sandbox', sandboxCommand],
  ['serve', serveCommand],
])

const [name = '', ...rest] = process.argv.slice(2)
const service = rest.length === 0 ? SERVICES.get(name) : undefined
await runProgram(
  service
    ? withManners(new Command('paybell').addCommand(service()))
    : (await import('./program.ts')).createProgram(),
)
