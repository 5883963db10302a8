// /operator/v1/client-certificates: a key goes in, or is made inside, and never comes out; and a certificate is for the clients
// that it is given to.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { addEndpoint, call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import { assertProblem, onboard, serveHttp } from '../../../../test/support/injected-server.ts'
import { issue, newKey } from '../../../../test/support/issue-certificate.ts'
import { openPrivateKey } from '../../../operations/certificates/private-key.ts'

const { pool } = await cloneDatabase()
const PATH = '/operator/v1/client-certificates'
const root = issue({ subject: 'CN=Root', isAuthority: true })

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Item {
  id: string
  name: string
  clients: string[] | 'everyone'
  isDefault: boolean
  usedBy: number
  certificatePem: string | null
  certificateRequestPem: string | null
}

/** All certificates of the tests before are gone. */
async function serve(t: TestContext) {
  await pool.query('delete from client_certificates')
  await pool.query('update endpoints set client_certificate = null')
  const server = await serveHttp(t, pool)
  const ask = (method: Method, url: string, body?: object) =>
    call(server, OPERATOR, method, url, body)
  const make = async (body: object) => {
    const answer = await ask('POST', PATH, { name: randomUUID(), ...body })
    assert.equal(answer.statusCode, 201, answer.body)
    return answer.json() as Item
  }
  const importOne = (of: object = { clients: 'everyone' }) => {
    const own = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
    return make({ certificatePem: own.pem + root.pem, privateKeyPem: own.keyPem, ...of })
  }
  return { server, ask, make, importOne }
}

test('one that is imported is shown without its key, in the audit too', async (t) => {
  const { ask } = await serve(t)
  const own = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
  const body = { name: 'pix', certificatePem: own.pem + root.pem, privateKeyPem: own.keyPem }
  const answer = await ask('POST', PATH, body)
  assert.equal(answer.statusCode, 201, answer.body)
  const made = answer.json()
  assert.equal(answer.headers.location, `${PATH}/${made.id}`)
  assert.equal(made.subject, 'CN=paybell')
  assert.deepEqual(made.clients, [], 'it is for no one')
  assert.equal(made.isDefault, false)
  assert.equal(made.usedBy, 0)
  assert.match(made.fingerprintSha256, /^[\da-f]{64}$/)
  assert.equal(made.certificateRequestPem, null)
  assert.deepEqual((await ask('GET', `${PATH}/${made.id}`)).json(), made)
  assert.deepEqual((await ask('GET', PATH)).json().content, [made])
  const { rows } = await pool.query(
    `select client_certificates::text as text from client_certificates
     union all select audit::text from audit`,
  )
  const secret = own.privateKey.export({ type: 'pkcs8', format: 'der' })
  for (const { text } of rows) {
    assert.ok(!text.includes(secret.toString('hex')), 'it is sealed')
    assert.ok(!text.includes('PRIVATE KEY'))
  }
})

test('one that is asked for becomes whole by what an authority signs, and no other', async (t) => {
  const { server, ask, make } = await serve(t)
  const begun = await make({ subject: 'CN=paybell, C=BR', clients: 'everyone' })
  assert.match(begun.certificateRequestPem ?? '', /BEGIN CERTIFICATE REQUEST/)
  assert.equal(begun.certificatePem, null)
  assert.equal(begun.isDefault, false, 'it cannot be shown yet')
  const stranger = issue({ subject: 'CN=paybell', by: root })
  const complete = (certificatePem: string) =>
    ask('PUT', `${PATH}/${begun.id}/certificate`, { certificatePem })
  const refused = await complete(stranger.pem)
  assertProblem(refused, 400, 'invalid-fields')
  assert.match(refused.body, /another key/)
  assertProblem(await ask('POST', `${PATH}/${begun.id}/default`, {}), 400, 'invalid-fields')
  const { rows } = await pool.query('select private_key from client_certificates')
  const key = openPrivateKey(server.deps.sealer, {
    id: begun.id,
    sealedPrivateKey: rows[0].private_key,
  })
  const signed = issue({ subject: 'CN=paybell, C=BR', by: root, key, purposes: ['client'] })
  const whole = (await complete(signed.pem + root.pem)).json()
  assert.equal(whole.isDefault, true, 'the first that can be shown for everyone')
  assert.match(whole.certificatePem, /BEGIN CERTIFICATE/)
  const renewed = issue({ subject: 'CN=paybell, C=BR', by: root, key, purposes: ['client'] })
  assert.notEqual((await complete(renewed.pem)).json().fingerprintSha256, whole.fingerprintSha256)
  assertProblem(
    await ask('PUT', `${PATH}/${randomUUID()}/certificate`, { certificatePem: stranger.pem }),
    404,
    'not-found',
  )
})

test('what cannot be used is refused at its member, and says why', async (t) => {
  const { ask } = await serve(t)
  const own = issue({ subject: 'CN=paybell', by: root })
  const refusals: readonly [object, string, RegExp][] = [
    [{}, '/certificatePem', /subject to ask for one/],
    [{ subject: 'CN=a', certificatePem: own.pem }, '/subject', /to import a certificate, or/],
    [{ subject: 'O=a' }, '/subject', /common name/],
    [{ certificatePem: own.pem, privateKeyPem: root.keyPem }, '/privateKeyPem', /does not belong/],
    [{ certificatePem: 'x', privateKeyPem: own.keyPem }, '/certificatePem', /BEGIN CERTIFICATE/],
    [
      { certificatePem: issue({ subject: 'CN=a', key: newKey(1_024) }).pem, privateKeyPem: 'x' },
      '/certificatePem',
      /1024 bits/,
    ],
  ]
  for (const [body, pointer, said] of refusals) {
    const answer = await ask('POST', PATH, { name: 'x', ...body })
    assertProblem(answer, 400, 'invalid-fields')
    const [error] = answer.json().errors
    assert.equal(error.pointer, pointer)
    assert.match(error.detail, said)
  }
  assert.equal((await ask('GET', PATH)).json().totalElements, 0)
})

test('a name belongs to one, and there is an end to their number', async (t) => {
  const { ask, importOne } = await serve(t)
  const made = await importOne()
  assertProblem(
    await ask('POST', PATH, { name: made.name, subject: 'CN=a' }),
    409,
    'certificate-name-taken',
  )
  await pool.query(
    `insert into client_certificates select (jsonb_populate_record(c, jsonb_build_object(
       'id', gen_random_uuid(), 'name', n, 'is_default', false))).*
     from client_certificates c, generate_series(1, 49) as n`,
  )
  assertProblem(
    await ask('POST', PATH, { name: 'one more', subject: 'CN=a' }),
    409,
    'too-many-certificates',
  )
})

test('endpoints follow a new one all at once, with a count first', async (t) => {
  const { server, ask, importOne } = await serve(t)
  const [before, after] = [await importOne(), await importOne()]
  assert.deepEqual([before.isDefault, after.isDefault], [true, false])
  const client = await onboard(server)
  for (const path of ['one', 'two']) {
    await addEndpoint(server, client, { callbackUrl: `https://receiver.example/${path}` })
  }
  await pool.query(`update endpoints set client_certificate = $1 where url like '%one'`, [
    before.id,
  ])
  await pool.query(`update endpoints set client_certificate = 'default' where url like '%two'`)
  const usedBy = async (id: string) => (await ask('GET', `${PATH}/${id}`)).json().usedBy
  assert.equal(await usedBy(before.id), 2, 'the one that names it and the one that means it')
  assertProblem(await ask('DELETE', `${PATH}/${before.id}`), 409, 'certificate-in-use')

  const asDefault = (body: object) => ask('POST', `${PATH}/${after.id}/default`, body)
  assert.deepEqual((await asDefault({ dryRun: true })).json(), { endpoints: 1 })
  assert.equal(await usedBy(after.id), 0)
  assert.deepEqual((await asDefault({})).json(), { endpoints: 1 })
  assert.equal(await usedBy(after.id), 1)

  const replace = (body: object) => ask('POST', `${PATH}/${before.id}/replace`, body)
  assertProblem(await replace({ by: before.id }), 400, 'invalid-fields')
  assertProblem(await replace({ by: randomUUID() }), 400, 'invalid-fields')
  assert.deepEqual((await replace({ by: after.id, dryRun: true })).json(), { endpoints: 1 })
  assert.deepEqual((await replace({ by: after.id })).json(), { endpoints: 1 })
  assert.equal(await usedBy(after.id), 2)
  assert.equal((await ask('DELETE', `${PATH}/${before.id}`)).statusCode, 204)
  assertProblem(await ask('GET', `${PATH}/${before.id}`), 404, 'not-found')
})

test('clients see the chains that their receivers meet, and nothing else', async (t) => {
  const { server, make, importOne } = await serve(t)
  const made = await importOne()
  await make({ subject: 'CN=not yet' })
  const { bearer } = await onboard(server)
  const answer = await call(server, bearer, 'GET', '/v1/client-certificates')
  assert.equal(answer.statusCode, 200, answer.body)
  const { content } = answer.json()
  assert.equal(content.length, 1)
  assert.deepEqual(Object.keys(content[0]).sort(), [
    ...['certificatePem', 'fingerprintSha256', 'id', 'isDefault', 'name', 'notAfter', 'subject'],
  ])
  assert.equal(content[0].certificatePem, made.certificatePem)
})

async function nameCertificate(ids: readonly string[], choice: string): Promise<void> {
  await pool.query(
    `update endpoints set client_certificate = $2
     where client_key = any(array(select client_key from clients where id = any($1::uuid[])))`,
    [ids, choice],
  )
}

test('a certificate is for the clients that are named, and each sees its own alone', async (t) => {
  const { server, ask, importOne } = await serve(t)
  const [a, b] = [await onboard(server), await onboard(server)]
  const ofA = await importOne({ clients: [a.clientId.toUpperCase()] })
  assert.deepEqual(ofA.clients, [a.clientId])
  assert.equal(ofA.isDefault, false, 'a default that is some clients’ is made one')
  const ofAll = await importOne()
  assert.deepEqual([ofAll.clients, ofAll.isDefault], ['everyone', true])
  const none = await importOne({})
  const seenBy = async ({ bearer }: { bearer: { authorization: string } }) => {
    const answer = await call(server, bearer, 'GET', '/v1/client-certificates')
    assert.ok(!answer.body.includes('clients'), 'nor whose else it is')
    return answer.json().content.map(({ id }: Item) => id)
  }
  assert.deepEqual(await seenBy(a), [ofA.id, ofAll.id])
  assert.deepEqual(await seenBy(b), [ofAll.id])

  const change = (id: string, body: object) => ask('PATCH', `${PATH}/${id}`, body)
  const both = [a.clientId, b.clientId].toSorted()
  const given = await change(none.id, { clients: both, name: 'for two' })
  assert.deepEqual([given.json().clients, given.json().name], [both, 'for two'])
  assert.deepEqual(await seenBy(b), [ofAll.id, none.id])
  const [entry] = (await ask('GET', '/operator/v1/audit')).json().items
  assert.deepEqual(
    [entry.action, entry.object],
    ['client-certificate.change', `client-certificate:${none.id}`],
  )
  assert.deepEqual(entry.changes, [
    { field: 'name', before: none.name, after: 'for two' },
    { field: 'clients', before: '', after: both.join(', ') },
  ])
  assert.deepEqual((await change(none.id, { clients: [] })).json().clients, [])
  assert.deepEqual((await change(none.id, { clients: 'everyone' })).json().clients, 'everyone')
  assertProblem(await change(randomUUID(), { clients: [] }), 404, 'not-found')
  assertProblem(await change(none.id, { name: ofA.name }), 409, 'certificate-name-taken')
})

test('whose it cannot be is said where it stands', async (t) => {
  const { server, ask, importOne } = await serve(t)
  const { clientId } = await onboard(server)
  const { id } = await importOne({})
  const unknown = [randomUUID(), clientId, randomUUID()]
  const many = Array.from({ length: 1_001 }, () => randomUUID())
  const refusals: readonly [object, readonly string[], string, RegExp][] = [
    [{ clients: unknown }, ['/clients/0', '/clients/2'], 'unusable', /no client with this id/],
    [{ clients: many }, ['/clients'], 'too-many', /at most 1000/],
    [{ clients: 'all' }, ['/clients'], 'wrong-type', /list of ids of clients, or everyone/],
    [{ clients: ['x'] }, ['/clients/0'], 'not-a-uuid', /uuid/],
    [{ clients: [clientId, clientId] }, ['/clients'], 'repeated', /once/],
    [{ clients: null }, ['/clients'], 'wrong-type', /./],
    [{}, ['/clients'], 'missing', /clients, name, or both/],
  ]
  for (const [body, pointers, code, said] of refusals) {
    const answer = await ask('PATCH', `${PATH}/${id}`, body)
    assertProblem(answer, 400, 'invalid-fields')
    const { errors } = answer.json()
    assert.deepEqual(
      errors.map(({ pointer }: { pointer: string }) => pointer),
      pointers,
    )
    assert.equal(errors[0].code, code)
    assert.match(errors[0].detail, said)
  }
  assert.deepEqual((await ask('GET', `${PATH}/${id}`)).json().clients, [])
})

test('one is not taken from a client whose endpoints are shown it, by its id or as the default', async (t) => {
  const { server, ask, importOne } = await serve(t)
  const [a, b] = [await onboard(server), await onboard(server)]
  const { id } = await importOne({ clients: [a.clientId, b.clientId] })
  for (const client of [a, b]) await addEndpoint(server, client)
  const change = (clients: unknown) => ask('PATCH', `${PATH}/${id}`, { clients })
  await nameCertificate([a.clientId], id)
  const refused = await change([b.clientId])
  assertProblem(refused, 409, 'certificate-in-use')
  assert.match(refused.json().detail, /are shown this certificate: 1\./)
  assert.equal((await change([a.clientId])).statusCode, 200, 'the other one does not use it')
  assert.equal((await change('everyone')).statusCode, 200)
  // The default is theirs who mean it.
  assert.equal((await ask('GET', `${PATH}/${id}`)).json().isDefault, true, 'now it is for everyone')
  await nameCertificate([b.clientId], 'default')
  assertProblem(await change([a.clientId]), 409, 'certificate-in-use')
  assert.equal((await change([a.clientId, b.clientId])).statusCode, 200)
})

test('endpoints do not follow to a certificate that is not for their clients, nor to a default of no one', async (t) => {
  const { server, ask, importOne } = await serve(t)
  const [a, b] = [await onboard(server), await onboard(server)]
  for (const client of [a, b]) await addEndpoint(server, client)
  const old = await importOne({ clients: [a.clientId, b.clientId] })
  const next = await importOne({ clients: [a.clientId] })
  const toDefault = (id: string, body: object = {}) => ask('POST', `${PATH}/${id}/default`, body)
  const nobodys = await importOne({})
  const refused = await toDefault(nobodys.id)
  assertProblem(refused, 400, 'invalid-fields')
  assert.match(refused.body, /for no one yet/)
  assert.equal((await toDefault(old.id)).statusCode, 200)
  await nameCertificate([a.clientId, b.clientId], 'default')
  for (const body of [{ dryRun: true }, {}]) {
    const left = await toDefault(next.id, body)
    assertProblem(left, 400, 'invalid-fields')
    assert.match(left.json().errors[0].detail, /left without a certificate: 1\. .* let these/)
  }
  await nameCertificate([a.clientId, b.clientId], old.id)
  const replace = () => ask('POST', `${PATH}/${old.id}/replace`, { by: next.id })
  const left = await replace()
  assertProblem(left, 400, 'invalid-fields')
  assert.equal(left.json().errors[0].pointer, '/by')
  await ask('PATCH', `${PATH}/${next.id}`, { clients: [a.clientId, b.clientId] })
  assert.deepEqual((await replace()).json(), { endpoints: 2 })
})
