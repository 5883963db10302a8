// What an endpoint hears, and how (decisions, What an endpoint hears): given, shown, changed, refused.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { issue } from '../../../../test/support/issue-certificate.ts'

const { pool } = await cloneDatabase()
const URL_OF = 'https://example.com/hook'
const BODY = { callbackUrl: URL_OF, sharedKey: 'a-shared-key-of-some-length' }
const SETTINGS = {
  events: ['payment.paid', 'payment.cancelled'],
  deliver: 'latest',
  document: 'link',
  signatures: ['hmac', 'ed25519'],
  hmacHeaderName: 'X-Acme-Signature',
  description: 'Ledger of the south',
}
const DEFAULTS = {
  events: null,
  deliver: 'every',
  document: 'inline',
  signatures: ['hmac'],
  hmacHeaderName: 'X-Paybell-Hmac',
  description: null,
}
const SEED_MEMBERS = ['id', 'endpointUrl', 'hmacHeaderName', 'algorithm', 'status']

type Item = Record<string, unknown> & { id: string }

const DOORS = [
  { post: '/v1/webhooks/register', path: '/v1/webhooks' },
  { post: '/api/v1/payments/subscribe', path: '/api/v1/payments/subscriptions' },
] as const
type Door = (typeof DOORS)[number]

function send(
  server: TestServer,
  client: TestClient,
  method: 'POST' | 'PATCH',
  at: string,
  body: object,
) {
  return server.app.inject({ method, url: at, headers: client.headers, payload: body })
}

/** Registers through the door, and returns what the list then shows. */
async function give(
  server: TestServer,
  client: TestClient,
  door: Door,
  body: object,
): Promise<Item> {
  const answer = await send(server, client, 'POST', door.post, { ...BODY, ...body })
  assert.ok(answer.statusCode < 300, answer.body)
  const page = await server.app.inject({ url: door.path, headers: client.headers })
  return page.json().content[0]
}

function settingsOf(item: Record<string, unknown>) {
  return Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, item[name]]))
}

test('without settings the items of both doors are those of the seed, member for member', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const item = await give(server, client, door, {})
    assert.deepEqual(Object.keys(item), SEED_MEMBERS)
    const paused = await send(server, client, 'PATCH', `${door.path}/${item.id}`, {
      status: 'PAUSED',
    })
    assert.deepEqual(Object.keys(paused.json()), SEED_MEMBERS)
  }
})

test('settings are taken by both doors and shown in every item', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const item = await give(server, client, door, SETTINGS)
    assert.deepEqual(settingsOf(item), SETTINGS)
    const url = `${door.path}/${item.id}`
    const one = (await server.app.inject({ url, headers: client.headers })).json()
    assert.deepEqual(settingsOf(one), SETTINGS)
  }
})

test('registering again without settings leaves them; with one, it replaces that one', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const { id } = await give(server, client, door, SETTINGS)
    assert.deepEqual(settingsOf(await give(server, client, door, {})), SETTINGS)
    const changed = await give(server, client, door, { events: null, description: 'North' })
    assert.equal(changed.id, id)
    assert.deepEqual(settingsOf(changed), { ...SETTINGS, events: null, description: 'North' })
  }
})

test('the first setting that is given shows them all, with their defaults', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const { id } = await give(server, client, door, {})
    const patch = (body: object) => send(server, client, 'PATCH', `${door.path}/${id}`, body)
    assert.deepEqual(settingsOf((await patch({ deliver: 'every' })).json()), DEFAULTS)
    assert.deepEqual(settingsOf((await patch(SETTINGS)).json()), SETTINGS)
    // A status and a setting at once; and null where it means "none" or "all".
    const both = (await patch({ status: 'PAUSED', events: null, description: null })).json()
    assert.equal(both.status, 'PAUSED')
    assert.deepEqual(settingsOf(both), { ...SETTINGS, events: null, description: null })
  }
})

test('all kinds can be named as one word, alone or in a list', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const [door] = DOORS
  for (const events of ['payment.*', ['payment.*']]) {
    assert.deepEqual((await give(server, client, door, { events })).events, ['payment.*'])
  }
})

const REFUSED: readonly [object, pointer: string, code: string][] = [
  [{ events: ['payment.refunded'] }, '/events/0', 'not-in-list'],
  [{ events: ['payment.paid', 7] }, '/events/1', 'not-in-list'],
  [{ events: [] }, '/events', 'empty'],
  [{ events: ['payment.paid', 'payment.paid'] }, '/events', 'repeated'],
  [{ events: ['payment.*', 'payment.paid'] }, '/events', 'contradictory'],
  [{ events: 'payment.paid' }, '/events', 'wrong-type'],
  [{ events: {} }, '/events', 'wrong-type'],
  [{ deliver: 'newest' }, '/deliver', 'not-in-list'],
  [{ deliver: null }, '/deliver', 'not-in-list'],
  [{ document: 'attached' }, '/document', 'not-in-list'],
  [{ signatures: [] }, '/signatures', 'empty'],
  [{ signatures: ['ed25519'] }, '/signatures', 'contradictory'],
  [{ signatures: ['hmac', 'rsa'] }, '/signatures/1', 'not-in-list'],
  [{ signatures: 'hmac' }, '/signatures', 'wrong-type'],
  [{ hmacHeaderName: 'Acme' }, '/hmacHeaderName', 'invalid-header-name'],
  [{ hmacHeaderName: 'X-Paybell-Event' }, '/hmacHeaderName', 'forbidden-header'],
  [{ hmacHeaderName: 'X-Paybell-Hmac-Previous' }, '/hmacHeaderName', 'forbidden-header'],
  [{ hmacHeaderName: null }, '/hmacHeaderName', 'wrong-type'],
  [{ description: 'x'.repeat(201) }, '/description', 'too-long'],
  [{ description: 'a\nb' }, '/description', 'invalid-text'],
  [{ description: 7 }, '/description', 'wrong-type'],
]

test('a bad setting is 400 with its pointer and a code, in all five calls, and changes nothing', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const { id } = await give(server, client, door, SETTINGS)
    for (const [body, pointer, code] of REFUSED) {
      const answers = [
        await send(server, client, 'POST', door.post, { ...BODY, ...body }),
        await send(server, client, 'PATCH', `${door.path}/${id}`, body),
        await server.app.inject({
          method: 'PATCH',
          url: `/operator/v1/endpoints/${id}`,
          headers: { authorization: `Bearer ${OPERATOR_KEY}` },
          payload: body,
        }),
      ]
      for (const answer of answers) {
        assertProblem(answer, 400, 'invalid-fields')
        const [error] = answer.json().errors
        assert.deepEqual([error.pointer, error.code], [pointer, code], JSON.stringify(body))
        assert.match(error.detail, /^[A-Z].*\.$/)
      }
    }
    assert.deepEqual(settingsOf(await give(server, client, door, {})), SETTINGS)
  }
})

test('a PATCH without a status or a setting is 400 and says what there is', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const [door] = DOORS
  const { id } = await give(server, client, door, {})
  const answer = await send(server, client, 'PATCH', `${door.path}/${id}`, {})
  assertProblem(answer, 400, 'invalid-fields')
  assert.match(answer.json().errors[0].detail, /events, deliver, document, signatures/)
})

test('the HMAC and the extra header of a subscription never share a name', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const door = DOORS[1]
  const extra = { headerKey: 'X-Acme_Signature', headerValue: 'secret' }
  const hmac = { hmacHeaderName: 'X-Acme-Signature' }
  const isRefused = async (answering: ReturnType<typeof send>) => {
    const answer = await answering
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.deepEqual([error.pointer, error.code], ['/hmacHeaderName', 'header-collides'])
  }
  await isRefused(send(server, client, 'POST', door.post, { ...BODY, ...extra, ...hmac }))
  // The one first, the other later, either way round.
  const { id } = await give(server, client, door, extra)
  await isRefused(send(server, client, 'PATCH', `${door.path}/${id}`, hmac))
  await give(server, client, door, hmac)
  await isRefused(send(server, client, 'POST', door.post, { ...BODY, ...extra }))
})

test("another client's endpoint cannot be changed, and a listener has no settings", async (t) => {
  const server = await serveHttp(t, pool)
  const [client, stranger] = [await onboard(server), await onboard(server)]
  for (const door of DOORS) {
    const { id } = await give(server, client, door, {})
    const answer = await send(server, stranger, 'PATCH', `${door.path}/${id}`, {
      description: 'mine',
    })
    assertProblem(answer, 404, 'not-found')
  }
  const made = await send(server, client, 'POST', '/v1/listeners', {
    name: 'laptop',
    sharedKey: BODY.sharedKey,
  })
  const url = `/v1/listeners/${made.json().id}`
  assertProblem(
    await send(server, client, 'PATCH', url, { deliver: 'latest' }),
    400,
    'invalid-fields',
  )
})

test('the operator sees all settings, changes them, and the trail says what changed', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await give(server, client, DOORS[0], {})
  const url = `/operator/v1/endpoints/${id}`
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
  const seen = (await server.app.inject({ url, headers })).json()
  assert.deepEqual(settingsOf(seen), DEFAULTS)
  const payload = { events: ['payment.paid'], hmacHeaderName: 'X-Acme', deliver: 'every' }
  const changed = await server.app.inject({ method: 'PATCH', url, headers, payload })
  assert.deepEqual(settingsOf(changed.json()), { ...DEFAULTS, ...payload })
  const wrong = { events: ['payment.lost'] }
  const refused = await server.app.inject({ method: 'PATCH', url, headers, payload: wrong })
  assertProblem(refused, 400, 'invalid-fields')
  const trail = await server.app.inject({ url: '/operator/v1/audit', headers })
  const [entry] = trail.json().items
  assert.deepEqual([entry.action, entry.object], ['endpoint.change', `endpoint:${id}`])
  assert.deepEqual(entry.changes, [
    { field: 'events', before: 'all', after: 'payment.paid' },
    { field: 'hmacHeaderName', before: 'X-Paybell-Hmac', after: 'X-Acme' },
  ])
})

const authority = issue({ subject: 'CN=Private authority', isAuthority: true })

async function makeCertificate(server: TestServer): Promise<string> {
  const own = issue({ subject: 'CN=paybell', by: authority, purposes: ['client'] })
  const answer = await server.app.inject({
    method: 'POST',
    url: '/operator/v1/client-certificates',
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    payload: { name: randomUUID(), certificatePem: own.pem, privateKeyPem: own.keyPem },
  })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

test('a receiver that asks who calls: the certificate and the authorities are chosen, shown and taken back', async (t) => {
  const server = await serveHttp(t, pool)
  const id = await makeCertificate(server)
  for (const door of DOORS) {
    const client = await onboard(server)
    const tls = { clientCertificate: id, certificateAuthorities: [authority.pem] }
    const item = await give(server, client, door, { ...BODY, tls })
    assert.deepEqual(item.tls, tls)
    const patch = async (given: unknown) => {
      const at = `${door.path}/${item.id}`
      const answer = await send(server, client, 'PATCH', at, { tls: given })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json().tls
    }
    const asDefault = { clientCertificate: 'default', certificateAuthorities: null }
    assert.deepEqual(await patch({ clientCertificate: 'default' }), asDefault)
    const twice = await patch({ certificateAuthorities: authority.pem + authority.pem })
    assert.equal(twice.certificateAuthorities.length, 2, 'one text may hold several')
    assert.equal(await patch({}), undefined, 'nothing is asked for')
    assert.equal(await patch(null), undefined)
  }
})

test('regression: certificates of an address without TLS are refused, with what to do', async (t) => {
  const server = await serveHttp(t, pool)
  const id = await makeCertificate(server)
  for (const door of DOORS) {
    const client = await onboard(server)
    const url = { callbackUrl: 'http://127.0.0.1:9/callbacks' }
    const tls = { clientCertificate: id }
    const refused = await send(server, client, 'POST', door.post, { ...BODY, ...url, tls })
    assertProblem(refused, 400, 'invalid-fields')
    assert.equal(refused.json().errors[0].pointer, '/tls')
    assert.match(refused.json().errors[0].detail, /is http:\/\/.* give the https:\/\/ address/)
    const none = { clientCertificate: null, certificateAuthorities: null }
    const item = await give(server, client, door, { ...url, tls: none })
    const change = await send(server, client, 'PATCH', `${door.path}/${item.id}`, { tls })
    assertProblem(change, 400, 'invalid-fields')
  }
})

test('a certificate that is not there, and authorities that are none, are refused where they stand', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const leaf = issue({ subject: 'CN=leaf', by: authority })
  const refusals: readonly [unknown, string, RegExp][] = [
    [{ clientCertificate: randomUUID() }, '/tls/clientCertificate', /no such certificate/],
    [{ clientCertificate: 'Default' }, '/tls/clientCertificate', /no such certificate/],
    [{ certificateAuthorities: [leaf.pem] }, '/tls/certificateAuthorities', /no certificate of an/],
    [{ certificateAuthorities: ['x'] }, '/tls/certificateAuthorities', /BEGIN CERTIFICATE/],
    [{ certificateAuthorities: [] }, '/tls/certificateAuthorities', /./],
    [
      { certificateAuthorities: authority.pem.repeat(11) },
      '/tls/certificateAuthorities',
      /at most 10/,
    ],
    [{ clientCertificat: 'default' }, '/tls', /clientCertificate/],
    ['default', '/tls', /./],
  ]
  for (const [tls, pointer, said] of refusals) {
    const answer = await send(server, client, 'POST', DOORS[0].post, { ...BODY, tls })
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.ok(error.pointer.startsWith(pointer), JSON.stringify(error))
    assert.match(error.detail, said)
  }
})
