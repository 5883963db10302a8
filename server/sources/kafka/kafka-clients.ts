// The clients of one Kafka cluster: who they say they are, and how they are let in. None of them tries again by itself:
// a commit that is tried again after the group has moved on would be one for partitions of another process.

import { isIP } from 'node:net'
import { getCACertificates } from 'node:tls'
import type { BaseOptions } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'

const CONNECT_MS_MAX = 5_000
/** Longer than a join waits for the other members of the group. */
const ANSWER_MS_MAX = 30_000

export function toClientOptions({ brokers, tls, sasl }: KafkaSettings): BaseOptions {
  return {
    clientId: 'paybell',
    bootstrapBrokers: [...brokers],
    connectTimeout: CONNECT_MS_MAX,
    requestTimeout: ANSWER_MS_MAX,
    retries: 0,
    ...(tls === null ? {} : { tls: tls.extraCa === null ? {} : { ca: trusted(tls.extraCa) } }),
    // Many brokers behind one address are told apart by the name; an IP address is none (RFC 6066 §3).
    ...(tls === null ? {} : { tlsServerName: !brokers.some(isAddress) }),
    ...(sasl === null ? {} : { sasl }),
  }
}

function isAddress(broker: string): boolean {
  return isIP(broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0
}

function trusted(extraCa: string): string[] {
  return [...getCACertificates('default'), extraCa]
}
