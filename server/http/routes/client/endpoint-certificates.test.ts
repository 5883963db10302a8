// The client certificate and the authorities of an endpoint: chosen, shown, taken back, and refused where they stand; a client
// chooses among those that are given to it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
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
  withoutRequestId,
} from '../../../../test/support/injected-server.ts'
import { issue } from '../../../../test/support/issue-certificate.ts'
import { until } from '../../../../test/support/until.ts'

const { pool } = await cloneDatabase()
const authority = issue({ subject: 'CN=Private authority', isAuthority: true })

async function makeCertificate(
  server: TestServer,
  clients: readonly string[] | 'everyone' = 'everyone',
): Promise<string> {
  const own = issue({ subject: 'CN=paybell', by: authority, purposes: ['client'] })
  const answer = await call(server, OPERATOR, 'POST', '/operator/v1/client-certificates', {
    name: randomUUID(),
    clients,
    certificatePem: own.pem,
    privateKeyPem: own.keyPem,
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
    const item = await addEndpoint(server, client, { tls }, door)
    assert.deepEqual(item.tls, tls)
    const patch = async (given: unknown) => {
      const answer = await patchEndpoint(server, client, item.id, { tls: given }, door)
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
    const refused = await postEndpoint(server, client, { ...ENDPOINT, ...url, tls }, door)
    assertProblem(refused, 400, 'invalid-fields')
    assert.equal(refused.json().errors[0].pointer, '/tls')
    assert.match(refused.json().errors[0].detail, /is http:\/\/.* give the https:\/\/ address/)
    const none = { clientCertificate: null, certificateAuthorities: null }
    const item = await addEndpoint(server, client, { ...url, tls: none }, door)
    const change = await patchEndpoint(server, client, item.id, { tls }, door)
    assertProblem(change, 400, 'invalid-fields')
  }
})

test('a certificate that is not there, and authorities that are none, are refused where they stand', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const leaf = issue({ subject: 'CN=leaf', by: authority })
  const refusals: readonly [unknown, string, RegExp][] = [
    [{ clientCertificate: 'Default' }, '/tls/clientCertificate', /Give an id of GET/],
    [{ clientCertificate: 'x'.repeat(37) }, '/tls/clientCertificate', /./],
    [{ clientCertificate: '' }, '/tls/clientCertificate', /./],
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
    const answer = await postEndpoint(server, client, { ...ENDPOINT, tls })
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.ok(error.pointer.startsWith(pointer), JSON.stringify(error))
    assert.match(error.detail, said)
  }
})

test('regression: a client cannot choose a certificate of another one, nor learn that there is one', async (t) => {
  const server = await serveHttp(t, pool)
  const [owner, stranger] = [await onboard(server), await onboard(server)]
  await pool.query('update client_certificates set is_default = false')
  const id = await makeCertificate(server, [owner.clientId])
  for (const door of DOORS) {
    const tried = { callbackUrl: 'https://stranger.example/hook' }
    const { id: endpointId } = await addEndpoint(server, stranger, tried, door)
    const answersTo = async (clientCertificate: string) => {
      const tls = { clientCertificate }
      const body = { ...ENDPOINT, callbackUrl: 'https://stranger.example/new', tls }
      return [
        await postEndpoint(server, stranger, body, door),
        await patchEndpoint(server, stranger, endpointId, { tls }, door),
        await call(server, OPERATOR, 'PATCH', `/operator/v1/endpoints/${endpointId}`, { tls }),
      ]
    }
    const [others, unknown] = [await answersTo(id), await answersTo(randomUUID())]
    others.forEach((answer, at) => {
      assertProblem(answer, 404, 'not-found')
      const [error] = answer.json().errors
      assert.equal(error.pointer, '/tls/clientCertificate')
      assert.match(error.detail, /no such certificate: give an id of GET/)
      const same = unknown[at] ?? assert.fail()
      assert.equal(withoutRequestId(answer), withoutRequestId(same))
    })
    for (const answer of await answersTo('default')) {
      assertProblem(answer, 400, 'invalid-fields')
      assert.match(answer.json().errors[0].detail, /This client has no default certificate/)
    }
    const list = await call(server, stranger.headers, 'GET', `${door.path}?size=100`)
    assert.ok(!list.body.includes('stranger.example/new'), 'nothing was registered')
    const own = await addEndpoint(server, owner, { tls: { clientCertificate: id } }, door)
    assert.equal(own.tls.clientCertificate, id)
    const capitals = { tls: { clientCertificate: id.toUpperCase() } }
    const again = await patchEndpoint(server, owner, own.id, capitals, door)
    assert.equal(again.json().tls.clientCertificate, id)
  }
})

test('regression: a certificate is not deleted, nor taken away, while an endpoint that names it is being saved', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const saved: string[] = []
  for (const [method, path, body] of [
    ['DELETE', '', undefined],
    ['PATCH', '', { clients: [] }],
  ] as const) {
    const id = await makeCertificate(server, [client.clientId])
    const url = `/operator/v1/client-certificates/${id}${path}`
    // The endpoint is held where it has been read that the certificate is there.
    const blocker = await pool.connect()
    await blocker.query('begin')
    await blocker.query('lock table endpoints in exclusive mode')
    const callbackUrl = `https://receiver.example/${method}`
    const saving = postEndpoint(server, client, {
      ...ENDPOINT,
      ...{ callbackUrl, tls: { clientCertificate: id } },
    })
    await until('the endpoint waits to be written', () => isWaiting('insert into endpoints'))
    const taking = call(server, OPERATOR, method, url, body)
    await until('the other change has come to its lock, or past it', async () => {
      const isPast = await Promise.race([taking.then(() => true), isWaiting('pg_advisory')])
      return isPast
    })
    await blocker.query('rollback')
    blocker.release()
    assert.equal((await saving).statusCode, 200)
    assertProblem(await taking, 409, 'certificate-in-use')
    saved.push(id)
  }
  assert.equal(saved.length, 2)
})

async function isWaiting(text: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'
       and datname = current_database()`,
    [text],
  )
  return rows.length > 0
}

test('regression: members of tls and oauth2 that are not known are refused at every door, also what would switch a check off', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const oauth2 = { tokenUrl: 'https://bank.example.com/token', clientId: 'a', clientSecret: 'b' }
  const refusals = [
    [{ tls: { insecure: true } }, '/tls/insecure'],
    [{ tls: { rejectUnauthorized: false } }, '/tls/rejectUnauthorized'],
    [{ oauth2: { ...oauth2, insecure: true } }, '/oauth2/insecure'],
  ] as const
  for (const door of DOORS) {
    const { id } = await addEndpoint(server, client, {}, door)
    for (const [body, pointer] of refusals) {
      for (const answer of [
        await postEndpoint(server, client, { ...ENDPOINT, ...body }, door),
        await patchEndpoint(server, client, id, body, door),
      ]) {
        assertProblem(answer, 400, 'invalid-fields')
        const [error] = answer.json().errors
        assert.deepEqual([error.pointer, error.code], [pointer, 'unknown'])
      }
    }
    const { id: same } = await addEndpoint(server, client, { colour: 'beside the settings' }, door)
    assert.equal(same, id, 'the rest of the body is as tolerant as before')
  }
})
