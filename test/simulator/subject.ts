// What is simulated: the service's own modules, from the source tree or from a copy with one deliberate
// fault in it.

import { fileURLToPath } from 'node:url'

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
  ServiceError: typeof import('../../server/core/errors.ts').ServiceError
  UuidMaker: typeof import('../../server/core/uuid.ts').UuidMaker
  acceptPayments: typeof import('../../server/operations/record-payments.ts').acceptPayments
  PaymentGatherer: typeof import('../../server/operations/parts/payment-gatherer.ts').PaymentGatherer
  GATHERER_LIMITS: typeof import('../../server/operations/parts/payment-gatherer.ts').GATHERER_LIMITS
  HOLD_LIMITS: typeof import('../../server/operations/parts/payment-holds.ts').HOLD_LIMITS
}

/** Where each of them is found. */
const FILES: Readonly<Record<keyof Subject, string>> = {
  Engine: 'delivery/engine.ts',
  Shards: 'delivery/shards.ts',
  RECORDER_LIMITS: 'delivery/recorder.ts',
  DUE_READER_LIMITS: 'delivery/due-reader.ts',
  CHANGE_WATCH_LIMITS: 'delivery/change-watch.ts',
  DatabaseClock: 'store/database-clock.ts',
  CautiousClock: 'delivery/cautious-clock.ts',
  LEASE_POLICY: 'core/lease.ts',
  retryPolicy: 'core/backoff.ts',
  circuitPolicy: 'core/circuit.ts',
  ServiceError: 'core/errors.ts',
  UuidMaker: 'core/uuid.ts',
  acceptPayments: 'operations/record-payments.ts',
  PaymentGatherer: 'operations/parts/payment-gatherer.ts',
  GATHERER_LIMITS: 'operations/parts/payment-gatherer.ts',
  HOLD_LIMITS: 'operations/parts/payment-holds.ts',
}

export const SERVER = fileURLToPath(new URL('../../server/', import.meta.url))

/** `root` is a folder that is laid out like server/. */
export async function loadSubject(root = SERVER): Promise<Subject> {
  const subject: Record<string, unknown> = {}
  for (const [name, path] of Object.entries(FILES)) {
    const module = await import(new URL(path, `file://${root}/`).href)
    subject[name] = module[name]
  }
  return subject as unknown as Subject
}
