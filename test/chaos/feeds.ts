// The ways in: what each tells its writer, and what its users call it.

import type { AcknowledgedWrite } from '../simulator/records.ts'

export const BROKER_FEEDS = ['nats', 'kafka'] as const
export type BrokerFeed = (typeof BROKER_FEEDS)[number]
export type Feed = 'put' | 'batch' | 'sql' | BrokerFeed

export const FEED_NAMES: Readonly<Record<Feed, string>> = {
  put: 'HTTP',
  batch: 'HTTP',
  sql: 'SQL',
  nats: 'NATS',
  kafka: 'Kafka',
}

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
