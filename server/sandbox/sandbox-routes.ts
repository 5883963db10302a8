// The routes that only a sandbox has: receivers to deliver to. The command that starts a sandbox passes them in;
// production never loads this folder.

import type { Clock } from '../core/plain/clock.ts'
import type { Routes } from '../http/basics/typed.ts'
import type { OperatorKeys } from '../operations/access/live-operator-keys.ts'
import type { DemoReceivers } from './demo-receivers.ts'
import { sandboxReceiverRoutes } from './receiver-routes.ts'

export interface SandboxParts {
  clock: Clock
  keys: OperatorKeys
}

export function sandboxRoutes(receivers: DemoReceivers): (parts: SandboxParts) => Routes {
  return ({ clock, keys }) => sandboxReceiverRoutes(receivers, keys, clock)
}
