// The connection to NATS and the durable pull consumer on it. Reconnects without limit, because a broker that is
// away costs only time; closes when the broker has refused its credentials twice.

import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nanos,
} from '@nats-io/transport-node'
import type { NatsSettings } from '../../config/config.ts'

export type PullConsumer = Pick<Consumer, 'fetch'>

export async function connectToNats(settings: NatsSettings): Promise<NatsConnection> {
  return connect(toOptions(settings))
}

function toOptions({ urls, credentials }: NatsSettings): NodeConnectionOptions {
  const [first] = urls.map((url) => new URL(url))
  const user = decodeURIComponent(first?.username ?? '')
  const pass = decodeURIComponent(first?.password ?? '')
  return {
    name: 'paybell',
    servers: urls.map((url) => new URL(url).host),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 1_000,
    timeout: 5_000,
    ...(urls.some((url) => url.startsWith('tls:')) ? { tls: {} } : {}),
    ...(credentials === null
      ? {}
      : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    // nats://token@host, or nats://user:password@host.
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
  }
}

/** Creates the consumer on first use; later starts continue at its position. */
export async function openConsumer(
  connection: NatsConnection,
  { stream, subject, durable }: NatsSettings,
  limits: { inHandMax: number; ackWaitMs: number },
): Promise<Consumer> {
  const manager = await jetstreamManager(connection, { checkAPI: false })
  await manager.consumers.add(stream, {
    durable_name: durable,
    description: 'Paybell: payment changes',
    filter_subject: subject,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(limits.ackWaitMs),
    max_ack_pending: limits.inHandMax,
    max_deliver: -1,
  })
  return jetstream(connection).consumers.get(stream, durable)
}
