// The routes that only a sandbox has: receivers to deliver to, and the speed of the delivery clock. The
// command that starts a sandbox passes them in; production never loads this folder.

import type { Clock } from '../core/plain/clock.ts'
import type { Routes } from '../http/basics/typed.ts'
import type { OperatorKeys } from '../operations/access/live-operator-keys.ts'
import { sandboxClockRoutes, type TimeScale } from './clock-routes.ts'
import type { DemoReceivers } from './demo-receivers.ts'
import { sandboxReceiverRoutes } from './receiver-routes.ts'

export interface SandboxParts {
  clock: Clock
  keys: OperatorKeys
  policies: TimeScale
}

export function sandboxRoutes(receivers: DemoReceivers): (parts: SandboxParts) => Routes {
  return ({ clock, keys, policies }) =>
    async (app) => {
      await sandboxReceiverRoutes(receivers, keys, clock)(app)
      await sandboxClockRoutes(policies, keys)(app)
    }
}
