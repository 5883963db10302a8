// What was tried on receipts, keys and links to documents: as someone who has a receipt and a text editor, as the owner of
// the database without the master key, and as a stranger who has a link. Tables of attacks on a service that runs.
// Long because it is one list of attacks.

import assert from 'node:assert/strict'
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { type KeySet, verifyReceipt } from '../../sdk/src/proving/signed.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { signJws } from '../../server/operations/access/sign-jws.ts'
import { Caller } from '../support/caller.ts'
import { encode } from '../support/jwt-part.ts'
import { addClient, startPaybell, until } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const { pool, baseUrl } = paybell
const RECEIPT = 'paybell-receipt+jws'
const FILE = Buffer.from(SAMPLE.document.base64EncodedFile, 'base64')

interface Delivered {
  caller: Caller
  clientId: string
  endpointId: string
  deliveryId: string
  eventId: string
  paymentId: string
  /** As the receiver got it. */
  body: Buffer
}

/** A client of its own, an endpoint, and a payment that has arrived there. */
async function deliver(settings: object = {}, changes: object = {}): Promise<Delivered> {
  const facts = await addClient(paybell, randomUUID())
  const caller = new Caller(facts)
  const path = `/${randomUUID()}`
  receiver.answer = () => 200
  assert.equal((await caller.register(receiver.url(path), 'a shared key', settings)).status, 200)
  const paymentId = randomUUID()
  const put = await caller.putSample(paymentId, { version: undefined, ...changes })
  assert.ok(put.ok, await put.text())
  const item = await until('it is delivered', async () => {
    const answer = await caller.get(`/v1/deliveries?paymentId=${paymentId}`)
    const { items } = (await answer.json()) as {
      items: { id: string; eventId: string; endpointId: string; state: string }[]
    }
    return items[0]?.state === 'DELIVERED' && items[0]
  })
  const sent = receiver.received.find((one) => one.path === path)
  return {
    caller,
    clientId: facts.clientId,
    paymentId,
    endpointId: item.endpointId,
    deliveryId: item.id,
    eventId: item.eventId,
    body: sent?.body ?? assert.fail('nothing has arrived'),
  }
}

const receiptOf = async ({ caller, deliveryId }: Delivered) =>
  (await caller.get(`/v1/deliveries/${deliveryId}/receipt`)).text()

const readJson = async <T>(path: string) => (await (await fetch(baseUrl + path)).json()) as T

const keySet = () => readJson<KeySet>('/.well-known/webhook-keys.json')

const decode = (part: string | undefined) =>
  JSON.parse(Buffer.from(part ?? '', 'base64url').toString())

const isGenuine = (jws: string, keys: KeySet) =>
  verifyReceipt(jws, keys).then(
    () => true,
    (error) => {
      assert.equal(error.code, 'not-genuine', String(error))
      return false
    },
  )

interface Parts {
  receipt: string
  head: string
  claims: string
  signature: string
  keys: KeySet
  kid: string
  own: KeyObject
}

const withHead = ({ head, claims, signature }: Parts, more: object) =>
  `${encode({ ...decode(head), ...more })}.${claims}.${signature}`

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The last character of 64 bytes has four bits that count for nothing. */
const respell = (text: string) =>
  text.slice(0, -1) + LETTERS[LETTERS.indexOf(text.at(-1) as string) ^ 1]

/** Of a receipt that is genuine, and nothing of what is made of it is. */
const FORGERIES: Readonly<Record<string, (parts: Parts) => string>> = {
  'alg none, without a signature': (of) =>
    `${encode({ ...decode(of.head), alg: 'none' })}.${of.claims}.`,
  'alg none, with it': (of) => withHead(of, { alg: 'none' }),
  'HS256 under the public key': (of) => {
    const signed = `${encode({ ...decode(of.head), alg: 'HS256' })}.${of.claims}`
    const { x = '' } = of.keys.keys[0] ?? {}
    const mac = createHmac('sha256', Buffer.from(x, 'base64url')).update(signed)
    return `${signed}.${mac.digest('base64url')}`
  },
  'another typ': (of) => withHead(of, { typ: 'paybell-statement+jws' }),
  'another body': (of) =>
    `${of.head}.${encode({ ...decode(of.claims), status: 201 })}.${of.signature}`,
  'a key of one’s own under the same id': (of) =>
    signJws({ kid: of.kid, key: of.own }, RECEIPT, decode(of.claims)),
  'a key of one’s own in the header': (of) => {
    const head = encode({ alg: 'EdDSA', typ: RECEIPT, jwk: of.own.export({ format: 'jwk' }) })
    return `${head}.${of.claims}.${of.signature}`
  },
  'an id that is a member of every object': (of) => withHead(of, { kid: '__proto__' }),
  'four parts': (of) => `${of.receipt}.${of.signature}`,
  'no signature': (of) => `${of.head}.${of.claims}.`,
  'another last character': (of) => respell(of.receipt),
  padding: (of) => `${of.receipt}==`,
  'padding inside': (of) => `${of.head}.${of.claims}=.${of.signature}`,
  'the other alphabet': (of) => of.receipt.replaceAll('-', '+').replaceAll('_', '/').concat('='),
}

test('receipts: nothing that is made of a genuine one is genuine', async () => {
  const delivered = await deliver()
  const receipt = await receiptOf(delivered)
  const keys = await keySet()
  assert.equal(await isGenuine(receipt, keys), true)
  const [head = '', claims = '', signature = ''] = receipt.split('.')
  const own = generateKeyPairSync('ed25519').privateKey
  const { kid } = decode(head)
  const parts = { receipt, head, claims, signature, keys, kid, own }
  for (const [name, forge] of Object.entries(FORGERIES)) {
    assert.equal(await isGenuine(forge(parts), keys), false, name)
  }
  assert.equal(await isGenuine(receipt, { keys: [], retired: [] }), false, 'no keys')
  const tokens = await readJson<KeySet>('/.well-known/jwks.json')
  assert.equal(await isGenuine(receipt, tokens), false, 'the keys of tokens')
  const renamed = tokens.keys.map((key) => ({ ...key, kid }))
  assert.equal(await isGenuine(receipt, { keys: renamed }), false, 'and under its id')
})

const ids = new UuidMaker(Date.now, (count) => crypto.getRandomValues(new Uint8Array(count)))

/** As the owner of the database, without the master key. */
async function plantKey(table: string, { isRetired = false, isCopied = false } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const kid = ids.next()
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'EdDSA' }
  await pool.query(
    `insert into ${table} (kid, public_jwk, private_key, created_at, verifies_until, authentication)
     select $1, $2, private_key, now(), $3, $4 from ${table} limit 1`,
    [kid, jwk, isRetired ? new Date(Date.now() - 1_000) : null, null],
  )
  if (isCopied) {
    await pool.query(
      `update ${table} set authentication = (
         select authentication from ${table} where authentication is not null limit 1)
       where kid = $1`,
      [kid],
    )
  }
  return { kid, key: privateKey }
}

const PLANTED = [{}, { isRetired: true }, { isCopied: true }, { isRetired: true, isCopied: true }]

test('as owner: a key that was put into the database is not published, and forges nothing', async (t) => {
  const delivered = await deliver()
  const { clientId, caller } = delivered
  const claims = decode((await receiptOf(delivered)).split('.')[1])
  const webhook = [] as { kid: string; key: KeyObject }[]
  const signing = [] as { kid: string; key: KeyObject }[]
  for (const how of PLANTED) {
    webhook.push(await plantKey('webhook_keys', how))
    signing.push(await plantKey('signing_keys', how))
  }
  t.after(async () => {
    for (const table of ['webhook_keys', 'signing_keys']) {
      const kids = [...webhook, ...signing].map(({ kid }) => kid)
      await pool.query(`delete from ${table} where kid = any($1)`, [kids])
    }
  })
  // One that has read none of them before.
  const fresh = await startPaybell(t, { beside: paybell })
  const get = (path: string, token = '') =>
    fetch(fresh.baseUrl + path, { headers: { authorization: `Bearer ${token}` } })
  const published = (await (await get('/.well-known/webhook-keys.json')).json()) as KeySet
  const tokens = (await (await get('/.well-known/jwks.json')).json()) as KeySet
  const known = [...published.keys, ...(published.retired ?? []), ...tokens.keys]
  const genuineToken = await caller.token()
  const { iss } = decode(genuineToken.split('.')[1])
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const token = {
    ...{ iss, aud: 'paybell-api', sub: clientId, jti: randomUUID() },
    ...{ iat: nowSeconds, nbf: nowSeconds, exp: nowSeconds + 600 },
  }
  assert.equal((await get('/v1/webhooks', genuineToken)).status, 200)
  for (const [at, own] of webhook.entries()) {
    const name = JSON.stringify(PLANTED[at])
    assert.ok(!known.some(({ kid }) => kid === own.kid), name)
    assert.equal(await isGenuine(signJws(own, RECEIPT, claims), published), false, name)
  }
  for (const [at, own] of signing.entries()) {
    const name = JSON.stringify(PLANTED[at])
    assert.ok(!known.some(({ kid }) => kid === own.kid), name)
    assert.equal((await get('/v1/webhooks', signJws(own, 'at+jwt', token))).status, 401, name)
  }
  const metrics = await (await get('/metrics', paybell.operatorKey)).text()
  assert.match(metrics, /^paybell_untrusted_keys\{keys="webhook"\} 4$/m)
  assert.match(metrics, /^paybell_untrusted_keys\{keys="signing"\} 4$/m)
})

test('as owner: an address that was altered is not the one of the receipt', async () => {
  const delivered = await deliver()
  const before = decode((await receiptOf(delivered)).split('.')[1])
  await pool.query(`update endpoints set url = 'https://mallory.example.com/' where id = $1`, [
    delivered.endpointId,
  ])
  assert.deepEqual(decode((await receiptOf(delivered)).split('.')[1]), before)
})

for (const document of ['inline', 'link', 'none']) {
  test(`a receipt has the digest of the bytes that arrived: ${document}, also after the setting was changed`, async () => {
    const delivered = await deliver({ document })
    const digest = createHash('sha256').update(delivered.body).digest('hex')
    const read = async () => decode((await receiptOf(delivered)).split('.')[1]).bodySha256
    assert.equal(await read(), digest)
    for (const other of ['inline', 'link', 'none']) {
      const path = `/v1/webhooks/${delivered.endpointId}`
      assert.equal((await delivered.caller.call('PATCH', path, { document: other })).status, 200)
      assert.equal(await read(), digest)
    }
  })
}

interface Fetched {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** The path as it is: `fetch` would put it right. */
function fetchRaw(path: string, method = 'GET', headers: object = {}): Promise<Fetched> {
  const { hostname, port } = new URL(baseUrl)
  const { promise, resolve, reject } = Promise.withResolvers<Fetched>()
  const asked = request({ hostname, port, path, method, headers: { ...headers } }, (answer) => {
    const parts: Buffer[] = []
    answer.on('data', (part: Buffer) => parts.push(part))
    answer.on('end', () =>
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: Buffer.concat(parts),
      }),
    )
  })
  asked.on('error', reject)
  asked.end()
  return promise
}

const pathOfLink = ({ body }: Delivered) =>
  new URL(JSON.parse(body.toString()).document.url as string).pathname

test('links: altered or respelt in any way, 404', async () => {
  const delivered = await deliver({ document: 'link' })
  const other = await deliver({ document: 'link' })
  const path = pathOfLink(delivered)
  const link = path.slice('/documents/'.length)
  const right = await fetchRaw(path)
  assert.deepEqual([right.status, right.body], [200, FILE])
  const altered: string[] = []
  for (let at = 0; at < link.length; at++) {
    const letter = [...'aA0_-.'].find((one) => one !== link[at])
    altered.push(link.slice(0, at) + letter + link.slice(at + 1))
    const code = link.charCodeAt(at).toString(16)
    altered.push(`${link.slice(0, at)}%${code}${link.slice(at + 1)}`)
  }
  for (const letter of LETTERS) if (letter !== link.at(-1)) altered.push(link.slice(0, -1) + letter)
  const [event = '', endpoint = '', mac = ''] = link.split('.')
  altered.push(
    ...[link.toUpperCase(), `${link}=`, `${link}==`, `${link}.`, `${link}x`, `${link}/`],
    ...[`${link}?`, `${link}?x=1`, `${link};x`, `${link}%00`, `${link}%20`, `${link}%0A`],
    ...[
      `../documents/${link}`,
      `./${link}`,
      `x/../${link}`,
      `%2e%2e/documents/${link}`,
      `/${link}`,
    ],
    ...[`${event}.${endpoint}.`, `${event}.${endpoint}`, `.${endpoint}.${mac}`, '..', '.', ''],
    ...[`${event}.${other.endpointId}.${mac}`, `${other.eventId}.${endpoint}.${mac}`],
    ...[`${event}.${endpoint}.${'A'.repeat(43)}`, `${event}.${endpoint}.${mac}.${mac}`],
  )
  for (const text of altered) {
    const { status, body } = await fetchRaw(`/documents/${text}`)
    assert.equal(status, 404, text)
    assert.ok(!body.includes(FILE))
  }
  assert.ok(altered.length > 300)
})

test('links: other methods and ranges give no more than the file', async () => {
  const path = pathOfLink(await deliver({ document: 'link' }))
  const head = await fetchRaw(path, 'HEAD')
  assert.deepEqual([head.status, head.body.length], [200, 0])
  const part = await fetchRaw(path, 'GET', { range: 'bytes=0-1' })
  assert.deepEqual([part.status, part.body], [200, FILE])
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    assert.equal((await fetchRaw(path, method)).status, 405, method)
  }
})

const NAMES: readonly (readonly [string, string])[] = [
  ['../../etc/passwd', 'passwd'],
  ['C:\\Windows\\win.ini', 'win.ini'],
  ['..', 'document'],
  ['a"; filename="b.html', 'a_; filename=_b.html'],
  ['x\u202egnp.exe', 'x_gnp.exe'],
  ['.bashrc', 'bashrc'],
]

for (const [name, safe] of NAMES) {
  test(`links: the name ${JSON.stringify(name)} is an attachment of this service, and no more`, async () => {
    const document = { ...SAMPLE.document, name }
    const { status, headers, body } = await fetchRaw(
      pathOfLink(await deliver({ document: 'link' }, { document })),
    )
    assert.deepEqual([status, body], [200, FILE])
    const disposition = String(headers['content-disposition'])
    assert.ok(
      disposition.startsWith(`attachment; filename="${safe}"; filename*=UTF-8''`),
      disposition,
    )
    assert.doesNotMatch(disposition, /\.\.|%2F|%5C|%E2%80|[/\\]/i)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['cache-control']), /no-store/)
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.ok(headers['content-security-policy'])
  })
}

async function asOperator(method: string, path: string, body?: object): Promise<void> {
  const answer = await paybell.caller.operate(method, path, body)
  assert.ok(answer.ok, await answer.text())
}

const ENDINGS: readonly {
  name: string
  status: number
  act(of: Delivered): Promise<unknown>
  /** Brings it back. */
  undo?(of: Delivered): Promise<unknown>
}[] = [
  {
    name: 'whose endpoint is paused',
    status: 200,
    act: ({ caller, endpointId }) => caller.changeWebhook(endpointId, { status: 'PAUSED' }),
  },
  {
    name: 'whose endpoint is deleted',
    status: 410,
    act: ({ caller, endpointId }) => caller.deleteWebhook(endpointId),
  },
  {
    name: 'whose payment is erased',
    status: 410,
    act: ({ paymentId }) => asOperator('POST', `/payments/${paymentId}/erase`),
  },
  {
    name: 'whose client is disabled',
    status: 410,
    act: ({ clientId }) => asOperator('PATCH', `/clients/${clientId}`, { status: 'DISABLED' }),
    undo: ({ clientId }) => asOperator('PATCH', `/clients/${clientId}`, { status: 'ACTIVE' }),
  },
]

for (const { name, status, act, undo } of ENDINGS) {
  test(`links: one ${name} is ${status}`, async () => {
    const delivered = await deliver({ document: 'link' })
    const path = pathOfLink(delivered)
    assert.equal((await fetchRaw(path)).status, 200)
    await act(delivered)
    assert.equal((await fetchRaw(path)).status, status)
    if (undo === undefined) return
    await undo(delivered)
    assert.equal((await fetchRaw(path)).status, 200)
  })
}
