// The sending half that all peers share: Paybell's headers and signatures, sent with undici's own client, as their users
// would send them.

import { createSecretKey } from 'node:crypto'
import { Agent, request } from 'undici'
import { firstHeaders } from '../harness/first-headers.ts'
import { SHARED_KEY } from '../paybell/prepare.ts'
import type { Job } from './peer.ts'

/** As many as Paybell opens to one origin, and as long as it waits for an answer. */
const CONNECTIONS = 64
const DEADLINE_MS = 15_000

export function createDeliver(): (job: Job) => Promise<number> {
  const dispatcher = new Agent({ connections: CONNECTIONS, headersTimeout: DEADLINE_MS })
  const keys = { current: createSecretKey(Buffer.from(SHARED_KEY)), previous: null }
  return async (job) => {
    const body = Buffer.from(job.text)
    const headers = firstHeaders(job.eventId, keys, [body])
    const answer = await request(job.url, { method: 'POST', headers, body, dispatcher })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`not delivered: ${answer.statusCode}`)
    return answer.statusCode
  }
}
