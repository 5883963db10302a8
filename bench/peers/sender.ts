// The sending half that all peers share: Paybell's own client, headers and signatures.

import { createSecretKey } from 'node:crypto'
import { callbackHeaders } from '../../server/core/signatures/callback-headers.ts'
import { CallbackClient } from '../../server/delivery/sending/callback-client.ts'
import { SHARED_KEY } from '../paybell/prepare.ts'
import type { Job } from './peer.ts'

export function createDeliver(): (job: Job) => Promise<number> {
  const client = new CallbackClient({ policy: { loopbackAllowed: true, allowedNetworks: [] } })
  const keys = { current: createSecretKey(Buffer.from(SHARED_KEY)), previous: null }
  return async (job) => {
    const body = [Buffer.from(job.text)]
    const headers = callbackHeaders(
      {
        eventId: job.eventId,
        kind: 'payment.created',
        sequence: 1,
        attempt: 1,
        atMs: Date.now(),
        mark: null,
        traceparent: `00-${job.eventId.replaceAll('-', '')}-0000000000000001-01`,
        extraHeader: null,
      },
      keys,
      body,
    )
    const { outcome } = await client.send({ url: job.url, clientKey: 1, headers, body })
    if (outcome.kind !== 'answered' || outcome.status !== 200) {
      throw new Error(`not delivered: ${outcome.kind}`)
    }
    return outcome.status
  }
}
