// node bench/identified-sending.ts [rounds] [posts a round]: what a callback costs the process that sends it where the
// receiver asks who calls, in CPU, beside one that asks nothing. All in this process, in turns; nothing is stored or signed.

import { randomUUID } from 'node:crypto'
import type { CallbackRequest } from '../server/core/delivery/callback-request.ts'
import { CallbackClient } from '../server/delivery/sending/callback-client.ts'
import { createIdentifiedSend } from '../server/delivery/sending/identified-send.ts'
import { issue } from '../test/support/issue-certificate.ts'
import type { Asking } from './harness/asking-receiver.ts'
import { Child } from './harness/child.ts'

const [rounds = '12', posts = '500'] = process.argv.slice(2)
const UNDER_WAY = 64
const BODY = [Buffer.alloc(400, 'x')]

const authority = issue({ subject: 'CN=authority', isAuthority: true })
const server = issue({
  subject: 'CN=receiver',
  by: authority,
  purposes: ['server'],
  addresses: ['127.0.0.1'],
})
const own = issue({ subject: 'CN=paybell', by: authority, purposes: ['client'] })
const shown = { fingerprintSha256: 'a', chainPem: own.pem, privateKey: own.privateKey }
const receiver = new Child(new URL('./harness/asking-receiver.ts', import.meta.url))
const client = new CallbackClient({
  policy: { loopbackAllowed: true, allowedNetworks: [] },
  extraCa: authority.pem,
})
const send = createIdentifiedSend(client, {
  find: async () => shown,
  sign: () => Promise.reject(new Error('no key is asked for')),
})

const certified = { cert: server.pem, key: server.keyPem }
const asking = { ...certified, clientAuthority: authority.pem }
const tls = { clientCertificate: 'default', certificateAuthorities: [authority.pem] }
const plain = await origin({})
const kinds: readonly [
  name: string,
  part: Pick<CallbackRequest, 'url'> & Partial<CallbackRequest>,
][] = [
  ['http', { url: plain }],
  ['http, with a token', { url: plain, oauth2: tokenClient(`${plain}token`) }],
  ['TLS, kept connections', { url: await origin(certified) }],
  ['mutual TLS, kept connections', { url: await origin(asking), tls }],
  ['TLS, a new connection each', { url: await origin({ ...certified, closes: true }) }],
  ['mutual TLS, a new connection each', { url: await origin({ ...asking, closes: true }), tls }],
]
const cpuUs = new Map<string, number[]>(kinds.map(([name]) => [name, []]))
for (let round = -1; round < Number(rounds); round++) {
  for (const [name, part] of round % 2 === 0 ? kinds : kinds.toReversed()) {
    const before = process.cpuUsage()
    await run(part)
    const { user, system } = process.cpuUsage(before)
    // The first round compiles, and opens what is kept.
    if (round >= 0) cpuUs.get(name)?.push((user + system) / Number(posts))
  }
}
for (const [name, figures] of cpuUs) {
  const sorted = figures.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1)
  console.log(`${name}: CPU µs a POST ${at(0)} / ${at(0.25)} / ${at(0.5)} (least, quarter, median)`)
}
await client.close()
await receiver.stop()

async function origin(like: Asking): Promise<string> {
  const port = await receiver.call<number>('listen', like)
  return `${like.cert === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`
}

function tokenClient(tokenUrl: string): CallbackRequest['oauth2'] {
  return {
    ...{ tokenUrl, clientId: 'paybell', clientSecret: 'secret', privateKeyJwt: false },
    ...{ authentication: 'basic', scope: null, audience: null, endpointId: randomUUID() },
  }
}

async function run(part: Pick<CallbackRequest, 'url'> & Partial<CallbackRequest>): Promise<void> {
  let left = Number(posts)
  const request: CallbackRequest = {
    ...{ clientKey: 1, eventId: randomUUID(), kind: 'payment.paid', attempt: 1, body: BODY },
    ...{ headers: ['content-type', 'application/json'], tls: null, oauth2: null },
    ...{ endpointId: null, deliveryId: randomUUID(), beginByMs: null },
    ...part,
  }
  const sender = async () => {
    while (left-- > 0) {
      const { outcome } = await send(request)
      if (outcome.kind !== 'answered' || outcome.status !== 200)
        throw new Error(JSON.stringify(outcome))
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY }, sender))
}
