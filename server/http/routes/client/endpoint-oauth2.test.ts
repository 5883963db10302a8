// The token that an endpoint's receiver asks for: given, shown without its secret, changed, taken back, refused.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
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
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { issue } from '../../../../test/support/issue-certificate.ts'
import { readSendingEndpoints } from '../../../store/owed/sending-endpoints.ts'

const { pool } = await cloneDatabase()
const CLIENT = { tokenUrl: 'https://bank.example.com/token', clientId: 'paybell' }
const SHOWN = {
  ...CLIENT,
  ...{ privateKeyJwt: false, scope: null, audience: null, authentication: 'basic' },
}

/** As the engine would send with it. */
async function secretOf(
  server: TestServer,
  endpointId: string,
): Promise<string | null | undefined> {
  const { rows } = await pool.query('select client_key from endpoints where id = $1', [endpointId])
  const key = { clientKey: rows[0].client_key, endpointId }
  const [endpoint] = await readSendingEndpoints(pool, server.deps.sealer, [key])
  return endpoint?.secrets?.oauth2?.clientSecret
}

test('both doors take it, show all but the secret, and take it back', async (t) => {
  const server = await serveHttp(t, pool)
  for (const door of DOORS) {
    const client = await onboard(server)
    const clientSecret = randomBytes(16).toString('hex')
    const { id, oauth2 } = await addEndpoint(
      server,
      client,
      { oauth2: { ...CLIENT, clientSecret } },
      door,
    )
    assert.deepEqual(oauth2, SHOWN)
    assert.equal(await secretOf(server, id), clientSecret)
    const patch = async (given: object | null) => {
      const answer = await patchEndpoint(server, client, id, { oauth2: given }, door)
      assert.equal(answer.statusCode, 200, answer.body)
      assert.ok(!answer.body.includes(clientSecret))
      return answer.json().oauth2
    }
    const more = { scope: 'payments.write hooks', audience: 'https://bank.example.com' }
    const posted = { ...CLIENT, ...more, authentication: 'post' }
    assert.deepEqual(await patch(posted), { ...SHOWN, ...posted })
    assert.equal(await secretOf(server, id), clientSecret, 'the secret stays')
    await addEndpoint(server, client, {}, door)
    assert.equal(await secretOf(server, id), clientSecret, 'registering again leaves it')
    assert.deepEqual(await patch({ ...CLIENT, privateKeyJwt: true }), {
      ...SHOWN,
      ...{ privateKeyJwt: true, authentication: 'post' },
    })
    assert.equal(await secretOf(server, id), null)
    assert.equal(await patch(null), undefined)
    const { rows } = await pool.query('select oauth2, oauth2_secret from endpoints where id = $1', [
      id,
    ])
    assert.deepEqual(rows, [{ oauth2: null, oauth2_secret: null }])
  }
})

test('a secret stays only where it would be sent to the same place as the same client', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const [door] = DOORS
  const oauth2 = { ...CLIENT, clientSecret: 'secret' }
  const { id } = await addEndpoint(server, client, { oauth2 }, door)
  const elsewhere = [{ tokenUrl: 'https://evil.example.com/token' }, { clientId: 'another' }]
  for (const other of elsewhere) {
    const body = { oauth2: { ...CLIENT, ...other } }
    for (const answer of [
      await patchEndpoint(server, client, id, body, door),
      await postEndpoint(server, client, { ...ENDPOINT, ...body }, door),
    ]) {
      assertProblem(answer, 400, 'invalid-fields')
      const [error] = answer.json().errors
      assert.deepEqual([error.pointer, error.code], ['/oauth2/clientSecret', 'missing'])
    }
  }
  assert.equal(await secretOf(server, id), 'secret')
})

const LONG = 'x'.repeat(2_049)
const REFUSED: readonly [string, unknown, string, string, RegExp][] = [
  ['nothing', {}, '/oauth2/tokenUrl', 'missing', /required/],
  ['text', 'https://bank.example.com', '/oauth2', 'wrong-type', /object or null/],
  ['no client', { tokenUrl: CLIENT.tokenUrl }, '/oauth2/clientId', 'missing', /required/],
  ['neither', CLIENT, '/oauth2/clientSecret', 'missing', /Give clientSecret, privateKeyJwt/],
  [
    'false, and no secret',
    { ...CLIENT, privateKeyJwt: false },
    ...(['/oauth2/clientSecret', 'missing', /Give clientSecret/] as const),
  ],
  [
    'both',
    { ...CLIENT, clientSecret: 's', privateKeyJwt: true },
    ...(['/oauth2/clientSecret', 'contradictory', /not both/] as const),
  ],
  [
    'a key in the header',
    { ...CLIENT, privateKeyJwt: true, authentication: 'basic' },
    ...(['/oauth2/authentication', 'contradictory', /give "post"/] as const),
  ],
  [
    'http',
    { ...CLIENT, clientSecret: 's', tokenUrl: 'http://bank.example.com/token' },
    ...(['/oauth2/tokenUrl', 'https-required', /Use https/] as const),
  ],
  [
    'user info',
    { ...CLIENT, clientSecret: 's', tokenUrl: 'https://a:b@bank.example.com/' },
    ...(['/oauth2/tokenUrl', 'user-info', /Remove the user name/] as const),
  ],
  [
    'a private address',
    { ...CLIENT, clientSecret: 's', tokenUrl: 'https://10.0.0.1/token' },
    ...(['/oauth2/tokenUrl', 'non-public-address', /public address/] as const),
  ],
  [
    'a long address',
    { ...CLIENT, clientSecret: 's', tokenUrl: `https://bank.example.com/${LONG}` },
    ...(['/oauth2/tokenUrl', 'too-long', /2048/] as const),
  ],
  [
    'a long client id',
    { ...CLIENT, clientSecret: 's', clientId: LONG },
    ...(['/oauth2/clientId', 'too-long', /256/] as const),
  ],
  [
    'a long secret',
    { ...CLIENT, clientSecret: LONG },
    ...(['/oauth2/clientSecret', 'too-long', /1024/] as const),
  ],
  [
    'a secret with a line end',
    { ...CLIENT, clientSecret: 'secret\n' },
    ...(['/oauth2/clientSecret', 'invalid-text', /printable ASCII/] as const),
  ],
  [
    'an empty secret',
    { ...CLIENT, clientSecret: '' },
    ...(['/oauth2/clientSecret', 'invalid-text', /at least one/] as const),
  ],
  [
    'a scope with two spaces',
    { ...CLIENT, clientSecret: 's', scope: 'a  b' },
    ...(['/oauth2/scope', 'invalid-text', /one space/] as const),
  ],
  [
    'an audience with a control character',
    { ...CLIENT, clientSecret: 's', audience: 'a\tb' },
    ...(['/oauth2/audience', 'invalid-text', /printable ASCII/] as const),
  ],
  [
    'another way',
    { ...CLIENT, clientSecret: 's', authentication: 'header' },
    ...(['/oauth2/authentication', 'not-in-list', /basic, post, tls/] as const),
  ],
  [
    'a certificate and a secret',
    { ...CLIENT, clientSecret: 's', authentication: 'tls' },
    ...([
      '/oauth2/clientSecret',
      'contradictory',
      /certificate alone .* leave clientSecret/,
    ] as const),
  ],
  [
    'a certificate and a key',
    { ...CLIENT, privateKeyJwt: true, authentication: 'tls' },
    ...(['/oauth2/privateKeyJwt', 'contradictory', /leave privateKeyJwt out/] as const),
  ],
  [
    'a certificate that is not chosen',
    { ...CLIENT, authentication: 'tls' },
    ...(['/tls/clientCertificate', 'unusable', /choose one/] as const),
  ],
  [
    'a member almost known',
    { ...CLIENT, clientsecret: 's' },
    ...(['/oauth2/clientsecret', 'unknown', /clientSecret/] as const),
  ],
]

test('what cannot work is refused where it stands, in words that say what to do, and changes nothing', async (t) => {
  const server = await serveHttp(t, pool, { mode: 'production' })
  for (const door of DOORS) {
    const client = await onboard(server)
    const { id } = await addEndpoint(server, client, {}, door)
    for (const [name, oauth2, pointer, code, detail] of REFUSED) {
      for (const answer of [
        await postEndpoint(server, client, { ...ENDPOINT, oauth2 }, door),
        await patchEndpoint(server, client, id, { oauth2 }, door),
      ]) {
        assertProblem(answer, 400, 'invalid-fields')
        const error = answer
          .json()
          .errors.find((one: { pointer: string }) => one.pointer === pointer)
        assert.ok(error, `${name}: ${answer.body}`)
        if (code !== 'unknown') assert.equal(error.code, code, name)
        assert.match(error.detail, detail, name)
      }
    }
    const { rows } = await pool.query('select oauth2, events from endpoints where id = $1', [id])
    assert.deepEqual(rows, [{ oauth2: null, events: null }])
  }
})

test('the token and an extra header Authorization exclude each other, either way round', async (t) => {
  const server = await serveHttp(t, pool)
  const door = DOORS[1]
  const oauth2 = { ...CLIENT, clientSecret: 's' }
  const extra = { headerKey: 'authorization', headerValue: 'Basic eA==' }
  const isRefused = async (answering: ReturnType<typeof postEndpoint>) => {
    const answer = await answering
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.deepEqual([error.pointer, error.code], ['/oauth2', 'header-collides'])
  }
  const client = await onboard(server)
  await isRefused(postEndpoint(server, client, { ...ENDPOINT, ...extra, oauth2 }, door))
  const { id } = await addEndpoint(server, client, extra, door)
  await isRefused(patchEndpoint(server, client, id, { oauth2 }, door))
  await addEndpoint(server, client, { oauth2 }, door)
  await isRefused(postEndpoint(server, client, { ...ENDPOINT, ...extra }, door))
  await addEndpoint(server, client, { headerKey: 'X-Own', headerValue: 'value' }, door)
})

test('the trail says what changed, that a secret did too, and no secret', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client)
  const url = `/operator/v1/endpoints/${id}`
  const texts: string[] = []
  for (const clientSecret of ['first-canary', 'second-canary']) {
    const payload = { oauth2: { ...CLIENT, clientSecret, scope: 'a' } }
    const changed = await call(server, OPERATOR, 'PATCH', url, payload)
    assert.deepEqual(changed.json().oauth2, { ...SHOWN, scope: 'a' })
    const trail = await call(server, OPERATOR, 'GET', '/operator/v1/audit')
    assert.ok(!trail.body.includes('canary'))
    const [change] = trail.json().items[0].changes
    assert.equal(change.field, 'oauth2')
    texts.push(change.before, change.after)
  }
  const said = /^paybell at https:\/\/bank\.example\.com\/token, basic with secret \w{16}, scope a$/
  assert.match(texts[1] ?? '', said)
  assert.match(texts[3] ?? '', said)
  assert.equal(texts[2], texts[1])
  assert.notEqual(texts[3], texts[1])
})

test('the client certificate alone can be the proof: it has to be there, and to stay', async (t) => {
  const server = await serveHttp(t, pool)
  const own = issue({ subject: 'CN=paybell', purposes: ['client'] })
  const made = await call(server, OPERATOR, 'POST', '/operator/v1/client-certificates', {
    ...{ name: 'bank', clients: 'everyone', certificatePem: own.pem, privateKeyPem: own.keyPem },
  })
  const tls = { clientCertificate: made.json().id }
  const oauth2 = { ...CLIENT, authentication: 'tls' }
  const shown = { ...SHOWN, authentication: 'tls' }
  for (const door of DOORS) {
    const client = await onboard(server)
    const item = await addEndpoint(server, client, { tls, oauth2 }, door)
    assert.deepEqual(item.oauth2, shown)
    assert.equal(await secretOf(server, item.id), null)
    const patch = (body: object) => patchEndpoint(server, client, item.id, body, door)
    for (const body of [{ tls: null }, { tls: { certificateAuthorities: own.pem } }]) {
      const refused = await patch(body)
      assertProblem(refused, 400, 'invalid-fields')
      assert.equal(refused.json().errors[0].pointer, '/tls/clientCertificate')
    }
    const plain = await patch({ oauth2: { ...oauth2, tokenUrl: 'http://127.0.0.1:9/token' } })
    assertProblem(plain, 400, 'invalid-fields')
    assert.equal(plain.json().errors[0].pointer, '/oauth2/tokenUrl')
    // There is no secret to go back to.
    const withSecret = await patch({ oauth2: CLIENT })
    assertProblem(withSecret, 400, 'invalid-fields')
    assert.equal(withSecret.json().errors[0].pointer, '/oauth2/clientSecret')
    assert.equal((await patch({ tls: null, oauth2: null })).statusCode, 200)
  }
})

test('the trail says that a certificate is the proof', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client)
  const tls = { clientCertificate: 'default' }
  const payload = { tls, oauth2: { ...CLIENT, authentication: 'tls' } }
  const changed = await call(server, OPERATOR, 'PATCH', `/operator/v1/endpoints/${id}`, payload)
  assert.equal(changed.statusCode, 200, changed.body)
  const trail = await call(server, OPERATOR, 'GET', '/operator/v1/audit')
  const { after } = trail
    .json()
    .items[0].changes.find(({ field }: { field: string }) => field === 'oauth2')
  assert.equal(after, 'paybell at https://bank.example.com/token, tls_client_auth')
})
