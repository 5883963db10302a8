// The numbers that the engine runs with in operation, and why they are what they are. Tests and the simulator
// choose their own.

import type { LeasePolicy } from '../core/delivery/lease.ts'
import type { EngineOptions } from './engine.ts'
import { CHANGE_WATCH_LIMITS } from './owing/change-watch.ts'
import { DUE_READER_LIMITS, type DueReaderLimits } from './owing/due-reader.ts'

/** Attempts in flight at endpoints that answer; one endpoint gets an eighth of them. */
export const SLOTS = 512
/** Of the deliveries in memory: a sixth of the room is for endpoints that answer, whatever the others do. */
const UNPROVEN_MAX = (DUE_READER_LIMITS.inMemoryMax / 6) * 5
const MIB = 1024 * 1024

export interface EngineSettings {
  policies: EngineOptions['policies']
  leases: LeasePolicy
  mode: 'sandbox' | 'production'
  /** Attempts per second at one endpoint; null for as many as it bears. */
  ratePerSecond: number | null
  onDatabaseTime: EngineOptions['onDatabaseTime']
  /** What tests compress. */
  timing: { pollEveryMs?: number; maintainEveryMs?: number; dueReader?: DueReaderLimits }
}

export function engineOptions(settings: EngineSettings): EngineOptions {
  const { policies, leases, mode, ratePerSecond, onDatabaseTime, timing } = settings
  return {
    policies,
    leases,
    lanes: {
      policy: {
        inFlightMax: SLOTS / 8,
        ratePerSecond,
      },
      slots: SLOTS,
      perLaneMax: UNPROVEN_MAX / 8,
      perBrokenLaneMax: 100,
      unprovenMax: UNPROVEN_MAX,
      lanesMax: 20_000,
      keepMsMax: 30_000,
    },
    payloads: { cacheBytesMax: 64 * MIB, fileBytesMax: 64 * MIB },
    dueReader: timing.dueReader ?? DUE_READER_LIMITS,
    changes: CHANGE_WATCH_LIMITS,
    pollEveryMs: timing.pollEveryMs ?? 1_000,
    slowCheckEveryMs: 250,
    // A sandbox may run fast: it does this as often as the fastest needs, so that what has run out is exhausted
    // before its endpoint is disabled.
    maintainEveryMs: timing.maintainEveryMs ?? (mode === 'sandbox' ? 1_000 : 60_000),
    onDatabaseTime,
  }
}
