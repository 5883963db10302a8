// The clients of one Kafka cluster: who they say they are, and how they are let in. None of them tries again by itself:
// a commit that is tried again after the group has moved on would be one for partitions of another process.

import { isIP } from 'node:net'
import { getCACertificates } from 'node:tls'
import { type Base, type BaseOptions, ResponseError } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import { type Changeable, changeRequest } from './changed-request.ts'
import { boundFrames } from './kafka-frames.ts'

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

/** What every client has: patience with partitions that have no leader, and a limit on what a broker may send. */
export function prepare<C extends Base>(client: C, { tls, ...limits }: FrameLimits): C {
  return acceptLeaderless(boundFrames(client, { ...limits, hasTls: tls !== null }))
}

export interface FrameLimits extends Pick<KafkaSettings, 'tls'> {
  frameBytesMax?: number
  /** The client says of it that the connection was closed, and no more. */
  onRefused(fault: string): void
}

/** The brokers in another order: a client asks the first one that it can connect to, also where that one is frozen. */
export function rotated(settings: KafkaSettings, turns: number): KafkaSettings {
  const at = turns % settings.brokers.length
  return { ...settings, brokers: [...settings.brokers.slice(at), ...settings.brokers.slice(0, at)] }
}

/** The client takes one partition without a leader for a failure of the whole answer: while any has none, nobody would
 *  join the group, read the topic or find the dead letters. Here it is led by the broker -1. */
export function acceptLeaderless<C extends Changeable>(client: C): C {
  return changeRequest(client, 'Metadata', tolerant)
}

type Answer = (error: Error | null, response?: unknown) => void
type Ask = ((...args: unknown[]) => void) & { version: number }

function tolerant(ask: Ask): Ask {
  const own = (...args: unknown[]) => {
    const answer = args.pop() as Answer
    const answerLeaderless: Answer = (error, response) =>
      isOfPartitions(error) ? answer(null, error.response) : answer(error, response)
    ask(...args, answerLeaderless)
  }
  return Object.assign(own, { version: ask.version })
}

function isOfPartitions(error: Error | null): error is ResponseError {
  if (!(error instanceof ResponseError)) return false
  return error.errors.every(({ path }) => /^\/topics\/\d+\/partitions\//.test(path))
}

function isAddress(broker: string): boolean {
  return isIP(broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0
}

function trusted(extraCa: string): string[] {
  return [...getCACertificates('default'), extraCa]
}
