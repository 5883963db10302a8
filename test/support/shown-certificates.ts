// A receiver with certificates of a private authority, and a client that shows some of its own: what tests of TLS are made of.

import { X509Certificate } from 'node:crypto'
import type { ShownCertificate } from '../../server/core/certificates/shown-certificate.ts'
import type { EndpointTls } from '../../server/core/delivery/endpoint-tls.ts'
import { CallbackClient } from '../../server/delivery/sending/callback-client.ts'
import { createIdentifiedSend } from '../../server/delivery/sending/identified-send.ts'
import { type Issued, issue } from './issue-certificate.ts'
import type { Owner } from './owner.ts'

export const NAME = 'receiver.example.test'
export const root = issue({ subject: 'CN=Root', isAuthority: true })
export const other = issue({ subject: 'CN=Other root', isAuthority: true })
export const receiver = issue({
  subject: 'CN=receiver',
  by: root,
  names: [NAME],
  addresses: ['127.0.0.1'],
})

export function shownOf(issued: Issued): ShownCertificate {
  return {
    fingerprintSha256: new X509Certificate(issued.pem).fingerprint256,
    chainPem: issued.pem,
    privateKey: issued.privateKey,
  }
}

export const own = shownOf(issue({ subject: 'CN=paybell', by: root, purposes: ['client'] }))

export const AUTHORITIES = [root.pem]
export const SHOWN: EndpointTls = { clientCertificate: 'own', certificateAuthorities: AUTHORITIES }

export function startSend(t: Owner, certificates: Record<string, ShownCertificate> = { own }) {
  const client = new CallbackClient({
    policy: { loopbackAllowed: false, allowedNetworks: ['127.0.0.1/32'] },
    resolve: async () => ['127.0.0.1'],
    ...{ connectTimeoutMs: 60_000, deadlineMs: 120_000, idleMsMax: 60_000 },
  })
  t.after(() => client.close())
  const send = createIdentifiedSend(client, {
    find: async (_clientKey, choice) => certificates[choice] ?? null,
    sign: async () => '',
  })
  return async (port: number, tls: EndpointTls | null, host = NAME) => {
    const { outcome } = await send({
      url: `https://${host}:${port}/callbacks`,
      ...{ clientKey: 1, eventId: 'event', kind: 'payment.created', attempt: 1 },
      ...{ headers: [], body: [Buffer.from('{}')], tls, oauth2: null },
      ...{ endpointId: null, deliveryId: null, beginByMs: null },
    })
    return outcome.kind === 'answered' ? outcome.status : outcome.reason
  }
}
