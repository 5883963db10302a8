// What is simulated: the service's own modules, from the source tree or from a copy with one deliberate
// fault in it.

import { fileURLToPath } from 'node:url'

export interface Subject {
  Engine: typeof import('../../server/delivery/engine.ts').Engine
  Shards: typeof import('../../server/delivery/leases/shards.ts').Shards
  DUE_READER_LIMITS: typeof import('../../server/delivery/owing/due-reader.ts').DUE_READER_LIMITS
  CHANGE_WATCH_LIMITS: typeof import('../../server/delivery/owing/change-watch.ts').CHANGE_WATCH_LIMITS
  DatabaseClock: typeof import('../../server/store/connection/database-clock.ts').DatabaseClock
  CautiousClock: typeof import('../../server/delivery/seams/cautious-clock.ts').CautiousClock
  LEASE_POLICY: typeof import('../../server/core/delivery/lease.ts').LEASE_POLICY
  retryPolicy: typeof import('../../server/core/delivery/backoff.ts').retryPolicy
  circuitPolicy: typeof import('../../server/core/delivery/circuit.ts').circuitPolicy
  ServiceError: typeof import('../../server/core/plain/errors.ts').ServiceError
  UuidMaker: typeof import('../../server/core/plain/uuid.ts').UuidMaker
  acceptPayments: typeof import('../../server/operations/accepting/record-payments.ts').acceptPayments
  PaymentGatherer: typeof import('../../server/operations/accepting/payment-gatherer.ts').PaymentGatherer
  GATHERER_LIMITS: typeof import('../../server/operations/accepting/payment-gatherer.ts').GATHERER_LIMITS
  HOLD_LIMITS: typeof import('../../server/operations/accepting/payment-holds.ts').HOLD_LIMITS
}

/** Where each of them is found. */
const FILES: Readonly<Record<keyof Subject, string>> = {
  Engine: 'delivery/engine.ts',
  Shards: 'delivery/leases/shards.ts',
  DUE_READER_LIMITS: 'delivery/owing/due-reader.ts',
  CHANGE_WATCH_LIMITS: 'delivery/owing/change-watch.ts',
  DatabaseClock: 'store/connection/database-clock.ts',
  CautiousClock: 'delivery/seams/cautious-clock.ts',
  LEASE_POLICY: 'core/delivery/lease.ts',
  retryPolicy: 'core/delivery/backoff.ts',
  circuitPolicy: 'core/delivery/circuit.ts',
  ServiceError: 'core/plain/errors.ts',
  UuidMaker: 'core/plain/uuid.ts',
  acceptPayments: 'operations/accepting/record-payments.ts',
  PaymentGatherer: 'operations/accepting/payment-gatherer.ts',
  GATHERER_LIMITS: 'operations/accepting/payment-gatherer.ts',
  HOLD_LIMITS: 'operations/accepting/payment-holds.ts',
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
