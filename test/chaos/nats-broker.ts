// NATS as a broker of a run: a nats-server with a stream of payments.

import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { findNatsServer, startNatsServer } from '../support/nats-server.ts'
import type { Owner } from '../support/owner.ts'
import type { StartedServer } from './broker.ts'

const STREAM = 'PAYBELL'

export async function startNatsBroker(owner: Owner): Promise<StartedServer> {
  const binary = findNatsServer()
  if (binary === null) return { missing: 'nats-server is not installed' }
  const server = await startNatsServer(owner, binary)
  const servers = server.url
  const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 50 })
  owner.after(() => connection.close())
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: STREAM, subjects: ['paybell.payments.>'] })
  return {
    settings: { PAYBELL_NATS_URL: server.url },
    signal: (name) => server.signal(name),
    kill: () => server.stop('SIGKILL'),
    restart: () => server.start(),
    // A repeated message is known by its id.
    publish: (accountId, body) =>
      jetstream(connection).publish(`paybell.payments.${accountId}`, JSON.stringify(body), {
        msgID: `${body.id}/${body.version}`,
        timeout: 2_000,
      }),
    open: async () => {
      const info = await (await jetstreamManager(connection)).consumers.info(STREAM, 'paybell')
      return info.num_pending + info.num_ack_pending
    },
  }
}
