// The engine as the one who is woken. After a lost connection it reads everything that it may have missed.

import type { Clock } from '../core/plain/clock.ts'
import type { Sleeper } from '../store/owed/wake-ups.ts'
import type { Engine } from './engine.ts'

export function sleeperOf(engine: Engine, clock: Pick<Clock, 'nowMs'>): Sleeper {
  return {
    onWakeUp: (wakeUp) => engine.wake(wakeUp),
    onGap: (lostForMs) => {
      const sinceMs = clock.nowMs() - lostForMs - 1_000
      engine.wake({ shards: engine.shards, endpoints: [], leases: true, sinceMs })
    },
  }
}
