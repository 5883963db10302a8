import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { HandClock, serveHttp } from '../../../test/support/injected-server.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { Keyring } from './keyring.ts'

const { pool } = await cloneDatabase()

test('processes that start at once agree on the first key', async (t) => {
  await pool.query('delete from signing_keys')
  const { deps } = await serveHttp(t, pool)
  const kids = await Promise.all(
    Array.from({ length: 5 }, async () => (await new Keyring(deps).signer()).kid),
  )
  assert.equal(new Set(kids).size, 1)
  const { rows } = await pool.query('select kid from signing_keys')
  assert.equal(rows.length, 1)
})

test('after a rotation the new key signs, the old one verifies, and others learn of it', async (t) => {
  const clock = new HandClock()
  const { deps } = await serveHttp(t, pool, { clock })
  const [here, there] = [new Keyring(deps), new Keyring(deps)]
  const old = (await there.signer()).kid
  const kid = await here.rotate()
  assert.notEqual(kid, old)
  assert.equal((await here.signer()).kid, kid)
  assert.ok(await here.verifier(old))

  // Just read: for a second, unknown ids cause no further query.
  assert.equal(await there.verifier(kid), null)
  clock.advance(1)
  assert.ok(await there.verifier(kid))
  assert.equal((await there.publicKeys()).length, 2)
  assert.equal((await there.signer()).kid, kid)

  // No token of the old key can be alive any more.
  clock.advance(3_600 + 600 + 60)
  assert.equal(await there.verifier(old), null)
  assert.equal((await there.publicKeys()).length, 1)
})

test('public keys show nothing private, and private ones are sealed in the database', async (t) => {
  const { deps } = await serveHttp(t, pool)
  const [jwk] = await new Keyring(deps).publicKeys()
  assert.equal(jwk?.kty, 'OKP')
  assert.equal(jwk?.d, undefined)
  const { rows } = await pool.query('select public_jwk::text, private_key from signing_keys')
  for (const row of rows) {
    assert.doesNotMatch(row.public_jwk, /"d":/)
    assert.ok(!row.private_key.includes('"d"'))
  }
})

test('unknown key ids cost one query a second, not one each', async (t) => {
  const clock = new HandClock()
  const { deps } = await serveHttp(t, pool, { clock })
  const keyring = new Keyring(deps)
  await keyring.signer()
  let queries = 0
  const counted = new Proxy(pool, {
    get(target, name) {
      if (name === 'query') queries++
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  deps.pool = counted
  clock.advance(2)
  for (let at = 0; at < 50; at++) await keyring.verifier(`unknown-${at}`)
  assert.equal(queries, 1)
})

test('a keyring without the master key that sealed its keys fails, and does not make new ones', async (t) => {
  const { deps } = await serveHttp(t, pool)
  const before = await pool.query('select count(*) as count from signing_keys')
  const stranger = new Keyring({ ...deps, sealer: new Sealer([randomBytes(32)]) })
  await assert.rejects(stranger.signer(), /is not configured/)
  const after = await pool.query('select count(*) as count from signing_keys')
  assert.deepEqual(after.rows, before.rows)
})
