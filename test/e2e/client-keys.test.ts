// A client that signs in with a key of its own, with our tools alone: the operator is given the public part, and SDK and
// command line sign their own assertions. No other test knows how an assertion is made by hand here.

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadCallerConfig } from '../../cli/basics/settings.ts'
import { Target } from '../../cli/basics/target.ts'
import { createClient, type PrivateKey } from '../../sdk/src/index.ts'
import { callCommand } from '../support/called-command.ts'
import { addClient, startPaybell } from '../support/paybell.ts'
import { makeDataDir } from '../support/sandbox.ts'

const paybell = await startPaybell({ after })
const { baseUrl } = paybell
const dir = await makeDataDir({ after })
const file = (name: string) => join(dir, name)

/** Nothing that the machine of the tests has. */
const NOWHERE = { PAYBELL_DATA_DIR: file('none'), XDG_CONFIG_HOME: file('config') }
const asOperator = {
  ...NOWHERE,
  PAYBELL_URL: baseUrl,
  PAYBELL_OPERATOR_KEY: paybell.operatorKey,
}

const pemOf = (key: KeyObject) =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString()
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })

async function run(args: readonly string[], env: Record<string, string>, input = '') {
  return callCommand(args, { env, input })
}

async function done(args: readonly string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await run(args, env)
  assert.equal(code, 0, stderr)
  return stdout
}

const ed25519 = generateKeyPairSync('ed25519')
await writeFile(file('client.pem'), pemOf(ed25519.privateKey))
await writeFile(file('client.jwk'), JSON.stringify({ ...jwkOf(ed25519.privateKey), kid: 'mine' }))
await writeFile(file('client-public.pem'), pemOf(ed25519.publicKey))

const client = await addClient(paybell)
const { clientId, accountId, clientSecret } = client
const asClient = {
  ...NOWHERE,
  PAYBELL_URL: baseUrl,
  PAYBELL_CLIENT_ID: clientId,
  PAYBELL_ACCOUNT_ID: accountId,
}
const withKey = { ...asClient, PAYBELL_CLIENT_KEY_FILE: file('client.pem') }

test('regression: clients keys add takes what openssl makes, and a JWK; a private key it keeps from the service', async () => {
  const added = await done(
    ['clients', 'keys', 'add', clientId, file('client-public.pem')],
    asOperator,
  )
  assert.match(added, /Key id +[\w-]{43}\s+Algorithm +EdDSA/)
  for (const [name, pair] of [
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['PS256', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
  ] as const) {
    const given = { ES256: JSON.stringify(jwkOf(pair.publicKey)), PS256: pemOf(pair.publicKey) }
    await writeFile(file(name), given[name])
    const stdout = await done(['clients', 'keys', 'add', clientId, file(name)], asOperator)
    assert.match(stdout, new RegExp(`Algorithm +${name}`))
    // The SDK takes the private part of each, in either form.
    for (const privateKey of [pemOf(pair.privateKey), jwkOf(pair.privateKey) as PrivateKey]) {
      const sdk = createClient({ baseUrl, clientId, privateKey, accountId })
      assert.deepEqual((await sdk.webhooks.list()).content, [])
    }
  }
  await writeFile(file('empty'), '')
  await writeFile(file('p384'), pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey))
  for (const [name, message, code] of [
    [
      'client.pem',
      /holds a private key, which stays with the client.*openssl pkey -in .* -pubout/,
      2,
    ],
    ['client.jwk', /holds a private key \(its member d\)/, 2],
    ['empty', /is neither PEM nor a JWK/, 2],
    ['missing', /no such file/, 2],
    ['p384', /Must be P-256/, 1],
  ] as const) {
    const ran = await run(['clients', 'keys', 'add', clientId, file(name)], asOperator)
    assert.equal(ran.code, code, name)
    assert.match(ran.stderr, message)
    assert.ok(!ran.stderr.includes(String(jwkOf(ed25519.privateKey).d)))
  }
})

test('SDK: PEM, JWK or CryptoKey get tokens, whatever kid the JWK has', async () => {
  const jwk = { ...jwkOf(ed25519.privateKey), kid: 'mine' }
  for (const privateKey of [
    pemOf(ed25519.privateKey),
    jwk as PrivateKey,
    await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['sign']),
  ]) {
    const sdk = createClient({ baseUrl, clientId, privateKey, accountId })
    const [one, other] = await Promise.all([sdk.stats(), sdk.webhooks.list()])
    assert.deepEqual([one.endpoints.healthy, other.totalElements], [0, 0])
  }
  const stranger = generateKeyPairSync('ed25519').privateKey
  const sdk = createClient({ baseUrl, clientId, privateKey: pemOf(stranger), accountId })
  await assert.rejects(sdk.stats(), { status: 401, code: 'invalid-credentials' })
  // Meant for another service: the holder of the key is told what it has to be.
  const audience = 'https://elsewhere.example/auth/token'
  const privateKey = pemOf(ed25519.privateKey)
  const elsewhere = createClient({ baseUrl, clientId, privateKey, audience, accountId })
  await assert.rejects(elsewhere.stats(), /aud must be http:.*\/auth\/token or/)
})

test('the command line signs with PAYBELL_CLIENT_KEY_FILE, PEM or JWK, and acts as that client', async () => {
  for (const key of ['client.pem', 'client.jwk']) {
    const env = { ...asClient, PAYBELL_CLIENT_KEY_FILE: file(key) }
    assert.equal(JSON.parse(await done(['webhooks', 'list', '--json'], env)).totalElements, 0)
    assert.equal(JSON.parse(await done(['deliveries', 'list', '--json'], env)).next, null)
  }
  // As assistants have it (paybell mcp): no operator's key that lies near is taken instead.
  const target = new Target(loadCallerConfig(withKey), {}, () => {})
  const { api, isOperator } = await target.reader()
  assert.equal(isOperator, false)
  assert.equal((await api.get('/v1/stats')).status, 200)
})

test('what is set only half, twice or wrong is said, and the key is not repeated', async () => {
  const { PAYBELL_CLIENT_ID: _, ...nameless } = withKey
  await writeFile(file('no-key'), 'pbs_not-a-key-at-all')
  await writeFile(file('bad.jwk'), '{"kty": "OKP", "d": "secret-part", ')
  for (const [env, message] of [
    [nameless, /only one of PAYBELL_CLIENT_ID and PAYBELL_CLIENT_KEY is set/],
    [
      { ...withKey, PAYBELL_CLIENT_SECRET: clientSecret },
      /PAYBELL_CLIENT_SECRET and PAYBELL_CLIENT_KEY are both set: keep one/,
    ],
    [{ ...asClient, PAYBELL_CLIENT_KEY_FILE: file('no-key') }, /the private key is not PEM/],
    [{ ...asClient, PAYBELL_CLIENT_KEY_FILE: file('bad.jwk') }, /neither PEM nor a JWK/],
    [{ ...asClient, PAYBELL_CLIENT_KEY_FILE: file('client-public.pem') }, /private key is needed/],
    [{ ...asClient, PAYBELL_CLIENT_KEY_FILE: file('missing') }, /must name a readable file/],
  ] as const) {
    const { code, stderr } = await run(['webhooks', 'list'], env)
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /secret-part|not-a-key-at-all/)
  }
})

test('paybell login --key-file keeps where the key is, and not the key', async () => {
  const env = { PAYBELL_DATA_DIR: file('none'), XDG_CONFIG_HOME: file('config') }
  const login = (...more: string[]) =>
    run(['login', 'bank', '--url', baseUrl, '--client-id', clientId, ...more], env)
  const stranger = generateKeyPairSync('ed25519').privateKey
  await writeFile(file('stranger.pem'), pemOf(stranger))
  const refused = await login('--key-file', file('stranger.pem'))
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /401 invalid-credentials/)
  assert.equal((await login('--key-file', file('client.pem'), '--operator')).code, 2)
  const signedIn = await login('--key-file', file('client.pem'), '--account', accountId)
  assert.equal(signedIn.code, 0, signedIn.stderr)
  assert.match(signedIn.stdout, new RegExp(`Signed in to .* as the client ${clientId}`))
  const list = () => run(['webhooks', 'list', '--profile', 'bank', '--json'], env)
  assert.equal((await list()).code, 0)
  const { stdout } = await run(['profiles', 'list', '--json'], env)
  assert.equal(JSON.parse(stdout)[0].clientId, clientId)
  await rename(file('client.pem'), file('moved.pem'))
  const gone = await list()
  await rename(file('moved.pem'), file('client.pem'))
  assert.equal(gone.code, 2)
  assert.match(gone.stderr, /client\.pem/)
})

test('regression: a client of keys only is not told that its right secret is wrong, and our tools go on with its key', async () => {
  await done(['clients', 'keys', 'accept', clientId, 'keys'], asOperator)
  const withSecret = { ...asClient, PAYBELL_CLIENT_SECRET: clientSecret }
  const refused = await run(['webhooks', 'list'], withSecret)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /gets tokens with its keys only.*\(401 keys-only\)/)
  assert.match(refused.stderr, /PAYBELL_CLIENT_KEY_FILE/)
  assert.doesNotMatch(refused.stderr, /Check PAYBELL_CLIENT_ID/)
  const wrong = await run(['webhooks', 'list'], { ...asClient, PAYBELL_CLIENT_SECRET: 'wrong' })
  assert.match(wrong.stderr, /401 invalid-credentials/)
  assert.doesNotMatch(wrong.stderr, /keys only/)
  const sdk = createClient({ baseUrl, clientId, clientSecret, accountId })
  await assert.rejects(sdk.stats(), { status: 401, code: 'keys-only' })
  assert.equal(JSON.parse(await done(['webhooks', 'list', '--json'], withKey)).totalElements, 0)
})
