// A client that wants what another client's bank gives for its certificate: a token, or a callback that the bank takes for the
// other's. The bank's token endpoint knows its clients by certificate alone (RFC 8705) and looks at no secret; the client
// that attacks has addresses and endpoints of its own, then a hand in the database. Over real TLS, against a service that runs.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { Caller } from '../support/caller.ts'
import { issue } from '../support/issue-certificate.ts'
import { addClient, startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const root = issue({ subject: 'CN=Authority of the bank', isAuthority: true })
const own = issue({ subject: 'CN=paybell for A', by: root, purposes: ['client'] })
const TOKEN = 'token-of-A'
const KEY = 'only-we-two-know-this'

interface Seen {
  path: string
  subject: string
  form: URLSearchParams
  authorization: string | undefined
}

/** Knows the certificate of A, and asks for nothing else. */
async function startBank() {
  const seen: Seen[] = []
  const { pem: cert, keyPem: key } = issue({
    ...{ subject: 'CN=bank', by: root, addresses: ['127.0.0.1'] },
  })
  const tls = { cert, key, ca: root.pem, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls, async (request, response) => {
    const socket = request.socket as TLSSocket
    const subject = socket.authorized ? String(socket.getPeerCertificate().subject?.CN) : ''
    let body = ''
    for await (const chunk of request) body += chunk
    const { authorization } = request.headers
    seen.push({ path: request.url ?? '', subject, form: new URLSearchParams(body), authorization })
    if (subject !== 'paybell for A')
      return response.writeHead(401).end('{"error":"invalid_client"}')
    const token = { access_token: TOKEN, token_type: 'Bearer', expires_in: 3_600 }
    return response.end(request.url === '/token' ? JSON.stringify(token) : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { seen, url: (path: string) => `https://127.0.0.1:${port}${path}` }
}

const bank = await startBank()
const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const { pool, caller: a, clientId: idOfA } = paybell
const thief = await addClient(paybell, 'Thief')
const b = new Caller(thief)
const certificateId = await importCertificate()
const authorities = { certificateAuthorities: [root.pem] }
/** What the token endpoint would give it for, were it A. */
const asA = { tokenUrl: bank.url('/token'), clientId: 'A at the bank' }

beforeEach(() => {
  bank.seen.length = 0
  receiver.received.length = 0
})

async function importCertificate(): Promise<string> {
  const answer = await a.operate('POST', '/client-certificates', {
    ...{ name: 'for the bank of A', clients: [idOfA] },
    ...{ certificatePem: own.pem + root.pem, privateKeyPem: own.keyPem },
  })
  assert.equal(answer.status, 201)
  const { id } = (await answer.json()) as { id: string }
  assert.equal((await a.operate('POST', `/client-certificates/${id}/default`, {})).status, 200)
  return id
}

async function tried(caller: Caller, webhookId: string) {
  const answer = await caller.postToWebhook(webhookId, 'test')
  return (await answer.json()) as { delivered: boolean; error?: string }
}

/** Its own address, with whatever it asks the bank for, or an address of the bank; no certificate yet. */
function registerOfThief(path: string, isOfBank = false): Promise<string> {
  const url = isOfBank ? bank.url(path) : receiver.url(path)
  const oauth2 = { ...asA, clientSecret: 'x', authentication: 'post' }
  return b.addWebhook(url, KEY, { tls: authorities, ...(isOfBank ? {} : { oauth2 }) })
}

async function untilMissing(endpointId: string): Promise<void> {
  await until('its delivery was attempted', async () => {
    const answer = await b.get(`/v1/deliveries?endpointId=${endpointId}`)
    const { items } = (await answer.json()) as { items: { lastOutcome: string | null }[] }
    return items[0]?.lastOutcome === 'certificate-missing'
  })
}

function write(webhookId: string, choice: string): Promise<unknown> {
  return pool.query(
    'update endpoints set client_certificate = $2, changed_at = now() where id = $1',
    [webhookId, choice],
  )
}

test('A gets its token for the certificate alone, and no secret is sent', async () => {
  const id = await a.addWebhook(receiver.url('/a'), KEY, {
    tls: { clientCertificate: certificateId, ...authorities },
    oauth2: { ...asA, authentication: 'tls' },
  })
  assert.equal((await tried(a, id)).delivered, true)
  assert.equal(receiver.received[0]?.headers.authorization, `Bearer ${TOKEN}`)
  const [asked] = bank.seen
  assert.equal(asked?.subject, 'paybell for A')
  assert.equal(asked?.authorization, undefined)
  assert.deepEqual(Object.fromEntries(asked?.form ?? []), {
    ...{ grant_type: 'client_credentials', client_id: 'A at the bank' },
  })
})

test('regression: a client that names the certificate of another one, or the default that is not its own, gets no token of it', async () => {
  const oauth2 = { ...asA, clientSecret: 'x', authentication: 'post' }
  const list = await b.get('/v1/client-certificates')
  assert.equal(((await list.json()) as { totalElements: number }).totalElements, 0)
  for (const [clientCertificate, status] of [
    [certificateId, 404],
    ['default', 400],
  ] as const) {
    const tls = { clientCertificate, ...authorities }
    const url = receiver.url(`/thief-${status}`)
    const answers = [
      await b.register(url, KEY, { tls, oauth2 }),
      await b.register(url, KEY, { tls, oauth2: { ...asA, authentication: 'tls' } }),
      await b.register(bank.url('/callbacks-of-A'), KEY, { tls }),
      await b.call('POST', '/api/v1/payments/subscribe', {
        ...{ callbackUrl: url, sharedKey: KEY, tls, oauth2 },
      }),
      await b.changeWebhook(await registerOfThief(`/plain-${status}`), { tls }),
    ]
    for (const answer of answers) assert.equal(answer.status, status, await answer.text())
  }
  // Without the certificate the bank knows no one.
  const id = await registerOfThief('/without')
  assert.equal((await tried(b, id)).error, 'token-refused')
  assert.ok(bank.seen.length > 0)
  assert.ok(bank.seen.every(({ subject }) => subject === ''))
  assert.ok(receiver.received.every(({ headers }) => headers.authorization === undefined))
})

test('regression: a row that was written into the database by hand shows nothing, to a receiver as to a token endpoint', async () => {
  const ids = [await registerOfThief('/by-hand'), await registerOfThief('/callbacks-of-A', true)]
  for (const choice of [certificateId, 'default']) {
    for (const id of ids) {
      await write(id, choice)
      const { delivered, error } = await tried(b, id)
      assert.deepEqual([delivered, error], [false, 'certificate-missing'])
    }
  }
  await b.pay()
  for (const id of ids) await untilMissing(id)
  // Endpoints of the test before ask the bank as well, without a certificate.
  assert.ok(bank.seen.every(({ path, subject }) => path === '/token' && subject === ''))
  assert.deepEqual(receiver.received, [])
})

test('a certificate that was taken away is not shown on a connection that is still open, nor is the token used that it brought', async () => {
  const give = (clients: string[]) =>
    a.operate('PATCH', `/client-certificates/${certificateId}`, { clients })
  assert.equal((await give([idOfA, thief.clientId])).status, 200)
  const id = await registerOfThief('/for-a-while')
  const tls = { clientCertificate: certificateId, ...authorities }
  assert.equal((await b.changeWebhook(id, { tls })).status, 200)
  assert.equal((await tried(b, id)).delivered, true)
  assert.equal((await give([idOfA])).status, 409, 'its endpoint is shown it')
  // Someone who writes to the database takes it all the same; other processes hear of nothing.
  await pool.query(
    `update client_certificates set client_keys = array(
       select client_key from clients where id = $1::uuid)`,
    [idOfA],
  )
  await until('it is not shown any more', async () => {
    return (await tried(b, id)).error === 'certificate-missing'
  })
  receiver.received.length = 0
  await b.pay()
  await untilMissing(id)
  assert.deepEqual(receiver.received, [])
})
