// The ways in: what each tells its writer, and how the writer draws one of them.

import type { AcknowledgedWrite } from '../simulator/records.ts'

export type Feed = 'put' | 'batch' | 'sql' | 'nats'

export type Acknowledged = Pick<AcknowledgedWrite, 'outcome' | 'event'>

/** A line of the log of what was acknowledged, and by whom. */
export interface FedWrite extends AcknowledgedWrite {
  feed: Feed
}

/** What the payments of a run hold in the end, update by update. */
export interface StoredReferences {
  paymentId: string
  references: readonly string[]
}

/** The reference of an update, and of one that is rolled back. */
export const referenceOf = (version: number) => `update ${version}`
export const ROLLED_BACK = 'rolled back'
