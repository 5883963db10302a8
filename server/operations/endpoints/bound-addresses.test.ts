// What is sealed for an endpoint opens only for the address that it was given for. Another hand, without the master key,
// writes what it likes into the row; its owner puts it right by giving again what he gave.

import assert from 'node:assert/strict'
import { after, beforeEach, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  addEndpoint,
  call,
  type Door,
  patchEndpoint,
  postEndpoint,
  SUBSCRIPTIONS,
  WEBHOOKS,
} from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp, type TestClient } from '../../../test/support/injected-server.ts'
import { readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const [KEY, LATER_KEY] = ['a key that only we two know', 'another key that we two know']
const CALLBACK_URL = 'https://bank.example/callbacks'
const HEADER = { headerKey: 'Authorization', headerValue: 'Bearer of-the-bank' }
const TOKEN_URL = 'https://bank.example/token'
const OAUTH2 = { tokenUrl: TOKEN_URL, clientId: 'paybell', clientSecret: 'of the bank' }
const ASSERTED = { tokenUrl: TOKEN_URL, clientId: 'paybell', privateKeyJwt: true }

let client: TestClient
beforeEach(async () => {
  client = await onboard(server)
})

async function read(endpointId: string) {
  const key = { clientKey: client.clientKey, endpointId }
  const [endpoint] = await readSendingEndpoints(pool, server.deps.sealer, [key])
  assert.ok(endpoint)
  return endpoint
}

async function add(settings: object, door: Door = WEBHOOKS): Promise<string> {
  const body = { callbackUrl: CALLBACK_URL, sharedKey: KEY, ...settings }
  const { id } = await addEndpoint(server, client, body, door)
  assert.ok((await read(id)).secrets !== null, 'it opens before')
  return id
}

const set = (id: string, assignment: string, ...values: unknown[]) =>
  pool.query(`update endpoints set ${assignment} where id = $1`, [id, ...values])

const toThief = `oauth2 = jsonb_set(oauth2, '{tokenUrl}', '"https://thief.example/token"')`
const OTHER_HANDS: readonly { name: string; settings: object; door?: Door; hand: string }[] = [
  { name: 'the address', settings: {}, hand: `url = 'https://thief.example/'` },
  {
    name: 'the address, and the hash by which it is found',
    settings: {},
    hand: `url = 'https://thief.example/', href_hash = '\\x00'`,
  },
  {
    name: 'the address of an extra header',
    settings: HEADER,
    door: SUBSCRIPTIONS,
    hand: `url = 'https://thief.example/'`,
  },
  { name: 'the token endpoint', settings: { oauth2: OAUTH2 }, hand: toThief },
  {
    name: 'the client at the token endpoint',
    settings: { oauth2: OAUTH2 },
    hand: `oauth2 = jsonb_set(oauth2, '{clientId}', '"thief"')`,
  },
  { name: 'the token endpoint of an assertion', settings: { oauth2: ASSERTED }, hand: toThief },
  {
    name: 'the token endpoint, and that it takes no secret',
    settings: { oauth2: OAUTH2 },
    hand: `oauth2 = oauth2 || '{"tokenUrl": "https://thief.example/", "authentication": "tls"}',
      oauth2_secret = null`,
  },
  {
    name: 'a token endpoint where there was none',
    settings: { description: 'with settings' },
    hand: `oauth2 = '{"tokenUrl": "https://thief.example/", "clientId": "paybell", "privateKeyJwt": true,
      "authentication": "post", "scope": null, "audience": null}'`,
  },
]

for (const { name, settings, door = WEBHOOKS, hand } of OTHER_HANDS) {
  test(`regression: after another hand has changed ${name}, nothing of the endpoint opens`, async () => {
    const id = await add(settings, door)
    await set(id, hand)
    assert.equal((await read(id)).secrets, null)
    const tested = await call(server, client.headers, 'POST', `${door.path}/${id}/test`)
    assert.equal(tested.json().error, 'undecryptable-key', tested.body)
  })
}

test('nor does it with a previous key that was for another address', async () => {
  const id = await add({})
  await add({ sharedKey: LATER_KEY })
  assert.ok((await read(id)).secrets?.keys.previous, 'the overlap runs')
  const field = { column: 'endpoints.previous_key', row: id, address: 'https://thief.example/' }
  await set(id, 'previous_key = $2', server.deps.sealer.seal(Buffer.from(KEY), field))
  assert.equal((await read(id)).secrets, null)
  await add({ sharedKey: LATER_KEY })
  assert.equal((await read(id)).secrets?.keys.previous, null, 'given again, it goes on without')
})

test('regression: two endpoints of one client whose addresses were swapped send nothing', async () => {
  const [one, two] = [await add({}), await add({ callbackUrl: 'https://bank.example/two' })]
  await pool.query(
    `update endpoints e set url = o.url from endpoints o
     where e.id = any($1) and o.id = any($1) and e.id <> o.id`,
    [[one, two]],
  )
  assert.deepEqual([(await read(one)).secrets, (await read(two)).secrets], [null, null])
})

test('given again by its owner, the endpoint is at the right address and opens', async () => {
  const id = await add(HEADER, SUBSCRIPTIONS)
  await set(id, `url = 'https://thief.example/'`)
  const body = { callbackUrl: CALLBACK_URL, sharedKey: KEY, ...HEADER }
  const answer = await postEndpoint(server, client, body, SUBSCRIPTIONS)
  assert.ok(answer.statusCode < 300, answer.body)
  const { url, secrets } = await read(id)
  assert.equal(url, CALLBACK_URL)
  assert.equal(secrets?.keys.current.export().toString(), KEY)
  assert.deepEqual(secrets?.extraHeader, [HEADER.headerKey, HEADER.headerValue])
})

test('another spelling of the address is the same one, and changes nothing', async () => {
  const id = await add({})
  const spelt = { callbackUrl: 'https://BANK.example:443/callbacks', sharedKey: KEY }
  assert.equal((await postEndpoint(server, client, spelt)).statusCode, 200)
  assert.equal((await read(id)).url, CALLBACK_URL)
})

test('a token endpoint that was changed is put right with its secret, not without', async () => {
  const id = await add({ oauth2: OAUTH2 })
  await set(id, toThief)
  const { clientSecret: _, ...without } = OAUTH2
  const refused = await patchEndpoint(server, client, id, { oauth2: without })
  assert.equal(refused.statusCode, 400, refused.body)
  assert.equal((await patchEndpoint(server, client, id, { description: 'x' })).statusCode, 200)
  assert.equal((await read(id)).secrets, null, 'another change binds nothing to the thief')
  const thiefs = { ...without, tokenUrl: 'https://thief.example/token' }
  assert.equal((await patchEndpoint(server, client, id, { oauth2: thiefs })).statusCode, 400)
  assert.equal((await patchEndpoint(server, client, id, { oauth2: OAUTH2 })).statusCode, 200)
  const { secrets } = await read(id)
  assert.equal(secrets?.oauth2?.tokenUrl, TOKEN_URL)
  assert.equal(secrets?.oauth2?.clientSecret, OAUTH2.clientSecret)
})

test('what the owner changes himself goes on: another token endpoint, another client there, a key in place of a secret', async () => {
  const id = await add({ oauth2: OAUTH2 })
  for (const oauth2 of [
    { ...OAUTH2, tokenUrl: 'https://other.example/token' },
    { ...OAUTH2, clientId: 'another' },
    ASSERTED,
    { ...ASSERTED, clientId: 'another' },
    OAUTH2,
  ]) {
    assert.equal((await patchEndpoint(server, client, id, { oauth2 })).statusCode, 200)
    const { secrets } = await read(id)
    assert.equal(secrets?.oauth2?.tokenUrl, oauth2.tokenUrl)
    const secret = 'clientSecret' in oauth2 ? oauth2.clientSecret : null
    assert.equal(secrets?.oauth2?.clientSecret, secret)
  }
  const { clientSecret: _, ...without } = OAUTH2
  const scoped = { oauth2: { ...without, scope: 'notify' } }
  assert.equal((await patchEndpoint(server, client, id, scoped)).statusCode, 200)
  const { secrets } = await read(id)
  assert.equal(secrets?.oauth2?.clientSecret, OAUTH2.clientSecret, 'it stays while both do')
  await patchEndpoint(server, client, id, { oauth2: ASSERTED })
  const kept = await patchEndpoint(server, client, id, { oauth2: without })
  assert.equal(kept.statusCode, 400, 'the one that stands for none is no secret')
})

test('where notices go is moved with both keys, by its owner alone', async () => {
  const put = (callbackUrl: string, sharedKey: string) =>
    call(server, client.headers, 'PUT', '/v1/notices', { callbackUrl, sharedKey })
  const opened = async () => {
    const { rows } = await pool.query(
      `select client_key, id from endpoints where kind = 'client-notice' and account_id = $1`,
      [client.clientId],
    )
    const key = { clientKey: rows[0].client_key, endpointId: rows[0].id }
    return { ...key, ...(await readSendingEndpoints(pool, server.deps.sealer, [key]))[0] }
  }
  const first = `${CALLBACK_URL}/notices`
  assert.equal((await put(first, KEY)).statusCode, 200)
  await put(first, LATER_KEY)
  await put(`${first}/moved`, LATER_KEY)
  const { url, secrets, endpointId } = await opened()
  assert.equal(url, `${first}/moved`)
  assert.equal(secrets?.keys.current.export().toString(), LATER_KEY)
  assert.equal(secrets?.keys.previous?.key.export().toString(), KEY, 'the overlap goes on')
  await set(endpointId, `url = 'https://thief.example/'`)
  assert.equal((await opened()).secrets, null)
  await put(`${first}/moved`, LATER_KEY)
  assert.equal((await opened()).secrets?.keys.current.export().toString(), LATER_KEY)
})
