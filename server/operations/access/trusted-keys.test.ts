// What the owner of the database can do with its keys, without the master key: nothing that would be trusted. Each
// test speaks as that owner, in SQL, and asks what is published and what is accepted.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { HandClock, onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { TOKEN_KEYS } from './key-purposes.ts'
import { rotateSigningKey } from './keyring.ts'
import { signJws } from './sign-jws.ts'
import { rotateWebhookKey, tendWebhookKeys } from './webhook-keys.ts'

const DAY_SECONDS = 86_400
const WEBHOOK_KEYS = '/.well-known/webhook-keys.json'
const TOKEN_KEY_SET = '/.well-known/jwks.json'

type Table = 'signing_keys' | 'webhook_keys'

async function start(t: { after(fn: () => void): void }) {
  const { pool } = await cloneDatabase()
  const clock = new HandClock()
  const server = await serveHttp(t, pool, { clock })
  const kids = async (url: string, list = 'keys') => {
    const body = (await server.app.inject(url)).json()
    return (body[list] as { kid: string }[]).map(({ kid }) => kid)
  }
  await Promise.all([kids(WEBHOOK_KEYS), kids(TOKEN_KEY_SET)])
  const forge = async (table: Table, more: { until?: Date; privateKey?: Buffer } = {}) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const kid = server.deps.newId()
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'EdDSA' }
    await pool.query(
      `insert into ${table} (kid, public_jwk, private_key, created_at, verifies_until)
       values ($1, $2, $3, $4, $5)`,
      [kid, jwk, more.privateKey ?? Buffer.alloc(60), new Date(clock.nowMs()), more.until ?? null],
    )
    clock.advance(61)
    return { kid, key: privateKey }
  }
  const listWith = (token: string) =>
    server.app.inject({ url: '/v1/webhooks', headers: { authorization: `Bearer ${token}` } })
  return { ...server, pool, clock, kids, forge, listWith }
}

type Started = Awaited<ReturnType<typeof start>>

const claimsOf = (clock: HandClock, clientId: string, iss: string) => {
  const now = Math.floor(clock.nowMs() / 1_000)
  const life = { iat: now, nbf: now, exp: now + 600 }
  return { iss, aud: 'paybell-api', sub: clientId, ...life, jti: randomUUID() }
}

const issuerOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).iss as string

test('regression: a key that someone put into webhook_keys is neither published nor used', async (t) => {
  const { kids, forge, clock } = await start(t)
  const before = await kids(WEBHOOK_KEYS)
  await forge('webhook_keys')
  await forge('webhook_keys', { until: new Date(clock.nowMs() - 1_000) })
  assert.deepEqual(await kids(WEBHOOK_KEYS), before)
  assert.deepEqual(await kids(WEBHOOK_KEYS, 'retired'), [])
})

test('regression: a token under a key that someone put into signing_keys is refused', async (t) => {
  const world = await start(t)
  const { clientId, token } = await onboard(world)
  for (const until of [undefined, new Date(world.clock.nowMs() + 30 * DAY_SECONDS * 1_000)]) {
    const own = await world.forge('signing_keys', until === undefined ? {} : { until })
    const claims = claimsOf(world.clock, clientId, issuerOf(token))
    const answer = await world.listWith(signJws(own, 'at+jwt', claims))
    assert.equal(answer.statusCode, 401)
    assert.equal((await world.kids(TOKEN_KEY_SET)).includes(own.kid), false)
  }
  assert.equal((await world.listWith(token)).statusCode, 200, 'the service goes on')
})

test('regression: what is forged is said, once, and counted', async (t) => {
  const world = await start(t)
  const { kid } = await world.forge('webhook_keys')
  for (let at = 0; at < 3; at++) {
    await world.kids(WEBHOOK_KEYS)
    world.clock.advance(61)
  }
  const lines = world.log.filter((line) => line.includes('keys.not-trusted'))
  assert.equal(lines.length, 1, world.log.join(''))
  assert.match(lines[0] ?? '', new RegExp(kid))
  assert.equal(JSON.parse(lines[0] ?? '').level, 50)
})

/** What an owner may try with a row that the service has made. */
const CHANGES: readonly { name: string; sql: string }[] = [
  { name: 'the public part', sql: `public_jwk = jsonb_set(public_jwk, '{x}', '"AAAA"')` },
  { name: 'its id inside', sql: `public_jwk = jsonb_set(public_jwk, '{kid}', '"other"')` },
  { name: 'its id', sql: `kid = '01a1dd3c-57d6-7001-8000-60de241483ec'` },
  { name: 'its time', sql: `created_at = created_at + interval '2 hours'` },
]

for (const { name, sql } of CHANGES) {
  for (const table of ['webhook_keys', 'signing_keys'] as const) {
    for (const alsoRemoved of [false, true]) {
      const how = alsoRemoved ? ', and takes the authentication away' : ''
      test(`regression: an owner who changes ${name} of a row of ${table}${how} makes it worthless`, async (t) => {
        const world = await start(t)
        const url = table === 'webhook_keys' ? WEBHOOK_KEYS : TOKEN_KEY_SET
        const [kid] = await world.kids(url)
        const more = alsoRemoved ? ', authentication = null' : ''
        await world.pool.query(`update ${table} set ${sql}${more}`)
        world.clock.advance(61)
        // A new key, because none is left that signs.
        assert.equal((await world.kids(url)).length, 1)
        assert.equal((await world.kids(url)).includes(kid as string), false)
      })
    }
  }
}

async function unretire({ pool, clock }: Started, table: Table, kid: string): Promise<void> {
  await pool.query(`update ${table} set verifies_until = null where kid = $1`, [kid])
  await pool.query(`update ${table} set verifies_until = created_at where kid <> $1`, [kid])
  clock.advance(61)
}

test('regression: an owner cannot bring a key of tokens back whose time is over', async (t) => {
  const world = await start(t)
  const { token } = await onboard(world)
  const [old = ''] = await world.kids(TOKEN_KEY_SET)
  await rotateSigningKey(world.deps, TOKEN_KEYS)
  world.clock.advance(2 * DAY_SECONDS)
  await unretire(world, 'signing_keys', old)
  assert.equal((await world.kids(TOKEN_KEY_SET)).includes(old), false)
  assert.equal((await world.listWith(token)).statusCode, 401)
})

test('regression: a retired webhook key stays retired, whatever its row says', async (t) => {
  const world = await start(t)
  const [old = ''] = await world.kids(WEBHOOK_KEYS)
  const fresh = await rotateWebhookKey(world.deps)
  world.clock.advance(8 * DAY_SECONDS)
  await tendWebhookKeys(world.deps)
  await world.pool.query(`update webhook_keys set verifies_until = $1 where kid = $2`, [
    new Date(world.clock.nowMs() + 1_000 * DAY_SECONDS * 1_000),
    old,
  ])
  world.clock.advance(61)
  assert.deepEqual(await world.kids(WEBHOOK_KEYS), [fresh])
  assert.deepEqual(await world.kids(WEBHOOK_KEYS, 'retired'), [old])
})

test('keys of the version before are trusted by their private part, and authenticated by upkeep', async (t) => {
  const world = await start(t)
  const [old = ''] = await world.kids(WEBHOOK_KEYS)
  const fresh = await rotateWebhookKey(world.deps)
  await world.pool.query('update webhook_keys set authentication = null')
  world.clock.advance(61)
  assert.deepEqual(await world.kids(WEBHOOK_KEYS), [fresh, old])
  // Its end comes before upkeep has seen it: the proof must not go before it was written down.
  world.clock.advance(8 * DAY_SECONDS)
  await tendWebhookKeys(world.deps)
  const { rows } = await world.pool.query(
    `select kid from webhook_keys where authentication is not null and (private_key is null) = (kid = $1)`,
    [old],
  )
  assert.equal(rows.length, 2)
  world.clock.advance(61)
  assert.deepEqual(await world.kids(WEBHOOK_KEYS, 'retired'), [old])
})

test('a retired key that nothing proves is not trusted by itself, ever', async (t) => {
  const world = await start(t)
  const [old = ''] = await world.kids(WEBHOOK_KEYS)
  await rotateWebhookKey(world.deps)
  world.clock.advance(8 * DAY_SECONDS)
  await tendWebhookKeys(world.deps)
  await world.pool.query('update webhook_keys set authentication = null where kid = $1', [old])
  await tendWebhookKeys(world.deps)
  world.clock.advance(61)
  assert.deepEqual(await world.kids(WEBHOOK_KEYS, 'retired'), [])
})
