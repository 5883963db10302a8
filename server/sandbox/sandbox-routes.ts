// All that only a sandbox serves: receivers to deliver to, and how fast the delivery clock runs. The command
// that runs a sandbox hands them in; production never loads this folder.

import type { Clock } from '../core/clock.ts'
import type { Routes } from '../http/typed.ts'
import type { OperatorKeys } from '../operations/parts/operator-keys.ts'
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
