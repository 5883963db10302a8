import assert from 'node:assert/strict'
import { createPublicKey, randomBytes, verify } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { HandClock, serveHttp } from '../../../test/support/injected-server.ts'
import { toWhpk } from '../../core/signatures/webhook-key.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { resealSecrets } from '../sealing/reseal-secrets.ts'
import { adoptWebhookKey, rotateWebhookKey, tendWebhookKeys, WebhookKeys } from './webhook-keys.ts'

const DAY_SECONDS = 86_400
const RECEIPT = 'paybell-receipt+jws'

async function start(t: { after(fn: () => void): void }, sealer?: Sealer) {
  const { pool } = await cloneDatabase()
  const clock = new HandClock()
  const server = await serveHttp(t, pool, { clock, ...(sealer ? { sealer } : {}) })
  return { ...server, pool, clock, keys: new WebhookKeys(server.deps) }
}

const kidsOf = (keys: readonly { kid: string }[]) => keys.map(({ kid }) => kid)

test('the published key is the one that signs, as JWK and as whpk_, and nothing private', async (t) => {
  const { app, keys } = await start(t)
  const answer = await app.inject('/.well-known/webhook-keys.json')
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['cache-control'], 'public, max-age=300')
  const { keys: published, retired } = answer.json()
  assert.deepEqual(retired, [])
  assert.deepEqual(kidsOf(published), kidsOf(await keys.signers()))
  const { kty, crv, x, use, alg, whpk, d } = published[0]
  assert.deepEqual([kty, crv, use, alg, d], ['OKP', 'Ed25519', 'sig', 'EdDSA', undefined])
  assert.equal(whpk, `whpk_${Buffer.from(x, 'base64url').toString('base64')}`)
})

test('keys of webhooks are apart from those of tokens', async (t) => {
  const { app } = await start(t)
  const [tokens, webhooks] = await Promise.all([
    app.inject('/.well-known/jwks.json'),
    app.inject('/.well-known/webhook-keys.json'),
  ])
  const [token] = tokens.json().keys
  const [webhook] = webhooks.json().keys
  assert.notEqual(token.x, webhook.x)
  assert.notEqual(token.kid, webhook.kid)
})

test('after a rotation both sign for 7 days; then the old one is retired and cannot sign', async (t) => {
  const { deps, pool, clock, app, keys } = await start(t)
  const [old] = kidsOf(await keys.signers())
  const fresh = await rotateWebhookKey(deps)
  clock.advance(60)
  assert.deepEqual(kidsOf(await keys.signers()), [fresh, old])
  assert.deepEqual(kidsOf((await keys.published()).keys), [fresh, old])

  clock.advance(7 * DAY_SECONDS - 61)
  await tendWebhookKeys(deps)
  assert.deepEqual(kidsOf(await keys.signers()), [fresh, old], 'a second before its end')
  clock.advance(61)
  await tendWebhookKeys(deps)
  assert.deepEqual(kidsOf(await keys.signers()), [fresh])
  const published = (await app.inject('/.well-known/webhook-keys.json')).json()
  assert.deepEqual(kidsOf(published.keys), [fresh])
  assert.deepEqual(kidsOf(published.retired), [old])
  assert.equal(published.retired[0].retiredAt, '2026-03-09T09:30:00.400Z')
  const { rows } = await pool.query('select private_key from webhook_keys where kid = $1', [old])
  assert.deepEqual(rows, [{ private_key: null }])
})

test('a key is replaced by upkeep at 90 days, by one process', async (t) => {
  const { deps, pool, clock, keys } = await start(t)
  await keys.signers()
  clock.advance(90 * DAY_SECONDS)
  assert.equal(await tendWebhookKeys(deps), false)
  clock.advance(1)
  // Several find it old at the same moment, each with a connection that is open already.
  for (const client of await Promise.all(Array.from({ length: 4 }, () => pool.connect()))) {
    client.release()
  }
  const rounds = await Promise.all(Array.from({ length: 4 }, () => tendWebhookKeys(deps)))
  assert.deepEqual(
    rounds.filter((hasReplaced) => hasReplaced),
    [true],
  )
  clock.advance(60)
  assert.equal((await keys.signers()).length, 2)
  assert.equal(await tendWebhookKeys(deps), false)
})

test('rotations by hand do not make headers grow without end', async (t) => {
  const { deps, clock, keys } = await start(t)
  for (let at = 0; at < 6; at++) {
    await rotateWebhookKey(deps)
    clock.advance(1)
  }
  assert.equal((await keys.signers()).length, 4)
})

test('a statement says what was signed, to others with the published key alone', async (t) => {
  const { keys } = await start(t)
  const claims = { deliveryId: 'd', status: 200, text: 'ü' }
  const jws = await keys.signStatement(RECEIPT, claims)
  const [header = '', payload = '', signature = ''] = jws.split('.')
  const [key] = (await keys.published()).keys
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    alg: 'EdDSA',
    typ: RECEIPT,
    kid: key?.kid,
  })
  assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64url').toString()), claims)
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  assert.ok(verify(null, signed, publicKey, Buffer.from(signature, 'base64url')))
})

test('the key of a statement of years ago is published among those that sign no more', async (t) => {
  const { deps, clock, keys } = await start(t)
  const jws = await keys.signStatement(RECEIPT, { n: 1 })
  await rotateWebhookKey(deps)
  clock.advance(1_000 * DAY_SECONDS)
  await tendWebhookKeys(deps)
  const { kid } = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString())
  assert.deepEqual(kidsOf((await keys.published()).retired), [kid])
})

test('resealing authenticates retired keys under the new master key, and tells of those it cannot', async (t) => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const { deps, pool, clock, keys } = await start(t, new Sealer([oldKey]))
  const [old] = kidsOf(await keys.signers())
  await rotateWebhookKey(deps)
  clock.advance(8 * DAY_SECONDS)
  await tendWebhookKeys(deps)
  const resealed = await resealSecrets({ pool, sealer: new Sealer([newKey, oldKey]) })
  assert.deepEqual([resealed.authenticatedKeys, resealed.untrustedKeys], [2, 0])
  const after = new WebhookKeys({ ...deps, sealer: new Sealer([newKey]) })
  assert.deepEqual(kidsOf((await after.published()).retired), [old])
  const again = await resealSecrets({ pool, sealer: new Sealer([newKey, oldKey]) })
  assert.deepEqual([again.authenticatedKeys, again.untrustedKeys], [0, 0])
  await pool.query('update webhook_keys set authentication = null')
  const taken = await resealSecrets({ pool, sealer: new Sealer([newKey]) })
  assert.deepEqual([taken.authenticatedKeys, taken.untrustedKeys], [1, 1])
})

test('an operator adopts a retired key by its public part, and no other', async (t) => {
  const { deps, pool, clock, keys } = await start(t)
  const [key] = (await keys.published()).keys
  const whpk = toWhpk(key?.x as string)
  assert.equal(await adoptWebhookKey(deps, whpk), null, 'it is trusted already')
  await rotateWebhookKey(deps)
  clock.advance(8 * DAY_SECONDS)
  await tendWebhookKeys(deps)
  await pool.query('update webhook_keys set authentication = null where kid = $1', [key?.kid])
  clock.advance(61)
  assert.deepEqual(kidsOf((await keys.published()).retired), [])
  assert.equal(await adoptWebhookKey(deps, toWhpk(randomBytes(32).toString('base64url'))), null)
  assert.equal(await adoptWebhookKey(deps, whpk), key?.kid)
  clock.advance(61)
  assert.deepEqual(kidsOf((await keys.published()).retired), [key?.kid])
  // A copy of it under another id, put beside it, is neither trusted nor adopted.
  await pool.query(
    `insert into webhook_keys select '01a1dd3c-57d6-7001-8000-60de241483ec', public_jwk, null,
       created_at, verifies_until, authentication from webhook_keys where kid = $1`,
    [key?.kid],
  )
  clock.advance(61)
  assert.deepEqual(kidsOf((await keys.published()).retired), [key?.kid])
  assert.equal(await adoptWebhookKey(deps, whpk), null)
})
