// What is simulated: the service's own modules, from the source tree or from a copy with one deliberate
// fault in it. Flaws that live in SQL cannot be put into a module here: the twin commits those itself.

import { fileURLToPath } from 'node:url'

export type Flaw =
  | 'answer-before-commit'
  | 'fan-out-in-a-second-transaction'
  | 'fan-out-skips-paused'
  | 'record-without-epoch-check'
  | 'sequence-without-lock'
  | 'check-then-insert'
  | 'leases-by-the-process-clock'
  | 'leases-by-expires-at'
  | 'replay-in-flight'
  | 'pause-counts'

export interface Subject {
  Engine: typeof import('../../server/delivery/engine.ts').Engine
  Shards: typeof import('../../server/delivery/shards.ts').Shards
  RECORDER_LIMITS: typeof import('../../server/delivery/recorder.ts').RECORDER_LIMITS
  DUE_READER_LIMITS: typeof import('../../server/delivery/due-reader.ts').DUE_READER_LIMITS
  CHANGE_WATCH_LIMITS: typeof import('../../server/delivery/change-watch.ts').CHANGE_WATCH_LIMITS
  DatabaseClock: typeof import('../../server/store/database-clock.ts').DatabaseClock
  CautiousClock: typeof import('../../server/delivery/cautious-clock.ts').CautiousClock
  LEASE_POLICY: typeof import('../../server/core/lease.ts').LEASE_POLICY
  retryPolicy: typeof import('../../server/core/backoff.ts').retryPolicy
  circuitPolicy: typeof import('../../server/core/circuit.ts').circuitPolicy
  applyChange: typeof import('../../server/core/payment-change.ts').applyChange
  ServiceError: typeof import('../../server/core/errors.ts').ServiceError
  UuidMaker: typeof import('../../server/core/uuid.ts').UuidMaker
  flaws: ReadonlySet<Flaw>
}

export const SERVER = fileURLToPath(new URL('../../server/', import.meta.url))

/** `root` is a folder that is laid out like server/. */
export async function loadSubject(root = SERVER, flaws: readonly Flaw[] = []): Promise<Subject> {
  const load = (path: string) => import(new URL(path, `file://${root}/`).href)
  const [
    engine,
    shards,
    recorder,
    reader,
    watch,
    clock,
    cautious,
    lease,
    backoff,
    circuit,
    change,
    errors,
    uuid,
  ] = await Promise.all(
    [
      'delivery/engine.ts',
      'delivery/shards.ts',
      'delivery/recorder.ts',
      'delivery/due-reader.ts',
      'delivery/change-watch.ts',
      'store/database-clock.ts',
      'delivery/cautious-clock.ts',
      'core/lease.ts',
      'core/backoff.ts',
      'core/circuit.ts',
      'core/payment-change.ts',
      'core/errors.ts',
      'core/uuid.ts',
    ].map(load),
  )
  return {
    Engine: engine.Engine,
    Shards: shards.Shards,
    RECORDER_LIMITS: recorder.RECORDER_LIMITS,
    DUE_READER_LIMITS: reader.DUE_READER_LIMITS,
    CHANGE_WATCH_LIMITS: watch.CHANGE_WATCH_LIMITS,
    DatabaseClock: clock.DatabaseClock,
    CautiousClock: cautious.CautiousClock,
    LEASE_POLICY: lease.LEASE_POLICY,
    retryPolicy: backoff.retryPolicy,
    circuitPolicy: circuit.circuitPolicy,
    applyChange: change.applyChange,
    ServiceError: errors.ServiceError,
    UuidMaker: uuid.UuidMaker,
    flaws: new Set(flaws),
  }
}
