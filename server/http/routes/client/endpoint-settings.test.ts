// What an endpoint hears, and how (decisions, What an endpoint hears): given, shown, changed, refused.

import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  addEndpoint,
  call,
  DOORS,
  ENDPOINT,
  OPERATOR,
  patchEndpoint,
  postEndpoint,
} from '../../../../test/support/injected-calls.ts'
import { assertProblem, onboard, serveHttp } from '../../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()
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

function settingsOf(item: Record<string, unknown>) {
  return Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, item[name]]))
}

test('without settings the items of both doors are those of the seed, member for member', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const item = await addEndpoint(server, client, {}, door)
    assert.deepEqual(Object.keys(item), SEED_MEMBERS)
    const paused = await patchEndpoint(server, client, item.id, { status: 'PAUSED' }, door)
    assert.deepEqual(Object.keys(paused.json()), SEED_MEMBERS)
  }
})

test('settings are taken by both doors and shown in every item', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const item = await addEndpoint(server, client, SETTINGS, door)
    assert.deepEqual(settingsOf(item), SETTINGS)
    const url = `${door.path}/${item.id}`
    const one = (await call(server, client.headers, 'GET', url)).json()
    assert.deepEqual(settingsOf(one), SETTINGS)
  }
})

test('registering again without settings leaves them; with one, it replaces that one', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const { id } = await addEndpoint(server, client, SETTINGS, door)
    assert.deepEqual(settingsOf(await addEndpoint(server, client, {}, door)), SETTINGS)
    const changed = await addEndpoint(server, client, { events: null, description: 'North' }, door)
    assert.equal(changed.id, id)
    assert.deepEqual(settingsOf(changed), { ...SETTINGS, events: null, description: 'North' })
  }
})

test('the first setting that is given shows them all, with their defaults', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const door of DOORS) {
    const { id } = await addEndpoint(server, client, {}, door)
    const patch = (body: object) => patchEndpoint(server, client, id, body, door)
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
    assert.deepEqual((await addEndpoint(server, client, { events }, door)).events, ['payment.*'])
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
    const { id } = await addEndpoint(server, client, SETTINGS, door)
    for (const [body, pointer, code] of REFUSED) {
      const answers = [
        await postEndpoint(server, client, { ...ENDPOINT, ...body }, door),
        await patchEndpoint(server, client, id, body, door),
        await call(server, OPERATOR, 'PATCH', `/operator/v1/endpoints/${id}`, body),
      ]
      for (const answer of answers) {
        assertProblem(answer, 400, 'invalid-fields')
        const [error] = answer.json().errors
        assert.deepEqual([error.pointer, error.code], [pointer, code], JSON.stringify(body))
        assert.match(error.detail, /^[A-Z].*\.$/)
      }
    }
    assert.deepEqual(settingsOf(await addEndpoint(server, client, {}, door)), SETTINGS)
  }
})

test('a PATCH without a status or a setting is 400 and says what there is', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const [door] = DOORS
  const { id } = await addEndpoint(server, client, {}, door)
  const answer = await patchEndpoint(server, client, id, {}, door)
  assertProblem(answer, 400, 'invalid-fields')
  assert.match(answer.json().errors[0].detail, /events, deliver, document, signatures/)
})

test('the HMAC and the extra header of a subscription never share a name', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const door = DOORS[1]
  const extra = { headerKey: 'X-Acme_Signature', headerValue: 'secret' }
  const hmac = { hmacHeaderName: 'X-Acme-Signature' }
  const isRefused = async (answering: ReturnType<typeof postEndpoint>) => {
    const answer = await answering
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.deepEqual([error.pointer, error.code], ['/hmacHeaderName', 'header-collides'])
  }
  await isRefused(postEndpoint(server, client, { ...ENDPOINT, ...extra, ...hmac }, door))
  // The one first, the other later, either way round.
  const { id } = await addEndpoint(server, client, extra, door)
  await isRefused(patchEndpoint(server, client, id, hmac, door))
  await addEndpoint(server, client, hmac, door)
  await isRefused(postEndpoint(server, client, { ...ENDPOINT, ...extra }, door))
})

test("another client's endpoint cannot be changed, and a listener has no settings", async (t) => {
  const server = await serveHttp(t, pool)
  const [client, stranger] = [await onboard(server), await onboard(server)]
  for (const door of DOORS) {
    const { id } = await addEndpoint(server, client, {}, door)
    const answer = await patchEndpoint(server, stranger, id, { description: 'mine' }, door)
    assertProblem(answer, 404, 'not-found')
  }
  const made = await call(server, client.headers, 'POST', '/v1/listeners', {
    name: 'laptop',
    sharedKey: ENDPOINT.sharedKey,
  })
  const url = `/v1/listeners/${made.json().id}`
  assertProblem(
    await call(server, client.headers, 'PATCH', url, { deliver: 'latest' }),
    400,
    'invalid-fields',
  )
})

test('the operator sees all settings, changes them, and the trail says what changed', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client)
  const url = `/operator/v1/endpoints/${id}`
  const seen = (await call(server, OPERATOR, 'GET', url)).json()
  assert.deepEqual(settingsOf(seen), DEFAULTS)
  const payload = { events: ['payment.paid'], hmacHeaderName: 'X-Acme', deliver: 'every' }
  const changed = await call(server, OPERATOR, 'PATCH', url, payload)
  assert.deepEqual(settingsOf(changed.json()), { ...DEFAULTS, ...payload })
  const wrong = { events: ['payment.lost'] }
  const refused = await call(server, OPERATOR, 'PATCH', url, wrong)
  assertProblem(refused, 400, 'invalid-fields')
  const trail = await call(server, OPERATOR, 'GET', '/operator/v1/audit')
  const [entry] = trail.json().items
  assert.deepEqual([entry.action, entry.object], ['endpoint.change', `endpoint:${id}`])
  assert.deepEqual(entry.changes, [
    { field: 'events', before: 'all', after: 'payment.paid' },
    { field: 'hmacHeaderName', before: 'X-Paybell-Hmac', after: 'X-Acme' },
  ])
})
