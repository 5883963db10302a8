// What was tried on statements and on those who reconcile with them, against a real service: a service or a network in
// between that lies, an owner of the database, an operator with an ordinary key, and every odd way to write a period.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createClient } from '../../sdk/src/calling/client.ts'
import { receivedFromIds } from '../../sdk/src/plain/ids-digest.ts'
import { type ReconcileOptions, reconcile } from '../../sdk/src/proving/reconcile.ts'
import type { KeySet } from '../../sdk/src/proving/signed.ts'
import type { Statement } from '../../sdk/src/wire/types.ts'
import { HOUR_MS, hourStartMs } from '../../server/core/proofs/statement.ts'
import { signJws } from '../../server/operations/access/sign-jws.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const STATEMENT = 'paybell-statement+jws'
const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const { baseUrl, clientId, clientSecret, accountId, caller, pool } = paybell
const client = createClient({ baseUrl, clientId, clientSecret, accountId })

/** The hour that is open, and the two before it: the tests may run over the end of one. */
function window(): { from: string; to: string } {
  const toMs = hourStartMs(Date.now()) + HOUR_MS
  return { from: new Date(toMs - 3 * HOUR_MS).toISOString(), to: new Date(toMs).toISOString() }
}

let keys: KeySet
/** Gets everything; and never accepted anything. */
let good: string
let refusing: string

async function register(path: string): Promise<string> {
  const sharedKey = 'a-long-random-text-that-only-we-two-know'
  return (await client.webhooks.register({ callbackUrl: receiver.url(path), sharedKey })).id
}

const taken = () =>
  receiver.received.flatMap(({ path, status, headers }) =>
    path === '/good' && status === 200 ? [String(headers['webhook-id'])] : [],
  )

before(async () => {
  receiver.answer = ({ path }) => (path === '/good' ? 200 : 503)
  good = await register('/good')
  refusing = await register('/refusing')
  for (let count = 0; count < 6; count++) {
    await caller.pay({ version: undefined })
  }
  await until('all are delivered to the one, and refused by the other', async () => {
    const { delivered } = await client.webhooks.statement(good, window())
    return delivered === 6 && receiver.received.filter(({ status }) => status === 503).length >= 6
  })
  keys = (await (await fetch(`${baseUrl}/.well-known/webhook-keys.json`)).json()) as KeySet
})

/** A client whose statements, and keys, someone replaces on their way. */
function lying(replace: (honest: Statement) => unknown, published?: KeySet) {
  const through: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const { pathname } = new URL(String(input))
    if (pathname.endsWith('.json') && published) return Response.json(published)
    if (!pathname.endsWith('/statement') || !answer.ok) return answer
    return Response.json(replace((await answer.json()) as Statement))
  }
  return createClient({ baseUrl, clientId, clientSecret, accountId, fetch: through })
}

async function reconcileAs(
  endpointId: string,
  options: Partial<ReconcileOptions> & { ids?: readonly string[] } = {},
) {
  const { ids = taken(), ...more } = options
  const store = await receivedFromIds(ids)
  return reconcile(store, window(), { client, endpointId, keys, ...more })
}

test('what is pending is not complete', async () => {
  const { isComplete, undelivered } = await reconcileAs(refusing, { ids: [] })
  assert.deepEqual([isComplete, undelivered], [false, { cancelled: 0, exhausted: 0, pending: 6 }])
})

const own = generateKeyPairSync('ed25519')
const forge = (claims: object, kid: string) =>
  signJws({ kid, key: own.privateKey }, STATEMENT, claims)
const unsigned = ({ jws: _, ...claims }: Statement) => claims
const NOTHING = { owed: 0, delivered: 0, superseded: 0, exhausted: 0, cancelled: 0, pending: 0 }

/** How an answer is replaced, and how it ends: with a code, or by what was signed. */
const LIES: readonly [
  name: string,
  replace: (honest: Statement) => unknown,
  code: string | null,
][] = [
  ['totals without hours, around an honest signature', (all) => ({ ...all, hours: [] }), null],
  ['nothing owed, around an honest signature', (all) => ({ ...all, ...NOTHING }), null],
  ['another endpoint, around an honest signature', (all) => ({ ...all, endpointId: good }), null],
  ['no signature', (all) => unsigned(all), 'not-genuine'],
  ['not.a.jws', (all) => ({ ...all, jws: 'not.a.jws' }), 'not-genuine'],
  [
    'a signature under a key of one’s own, by the id of the service’s',
    (all) => ({ ...all, jws: forge({ ...unsigned(all), ...NOTHING }, keys.keys[0]?.kid ?? '') }),
    'not-genuine',
  ],
  [
    'another payload under an honest signature',
    (all) => ({ ...all, jws: graft(all) }),
    'not-genuine',
  ],
]

function graft(honest: Statement): string {
  const [head, , tail] = honest.jws.split('.')
  const body = Buffer.from(JSON.stringify({ ...unsigned(honest), ...NOTHING })).toString(
    'base64url',
  )
  return `${head}.${body}.${tail}`
}

for (const [name, replace, code] of LIES) {
  test(`an answer with ${name} makes nothing complete`, async () => {
    const asked = reconcileAs(refusing, { ids: [], client: lying(replace) })
    if (code !== null) return assert.rejects(asked, { code })
    const { isComplete, undelivered, statement } = await asked
    assert.deepEqual([isComplete, undelivered.pending, statement.hours.length], [false, 6, 3])
  })
}

test('an honest statement of another endpoint, or of other hours, is refused', async () => {
  const other = await client.webhooks.statement(good, window())
  const { from, to } = window()
  const shorter = await client.webhooks.statement(refusing, {
    from: new Date(Date.parse(from) + HOUR_MS),
    to,
  })
  for (const replaced of [other, shorter]) {
    const asked = reconcileAs(refusing, { ids: taken(), client: lying(() => replaced) })
    await assert.rejects(asked, { code: 'statement-invalid' })
  }
})

test('keys that are published by someone else convince no one who has pinned them, and others are told', async () => {
  const x = own.publicKey.export({ format: 'jwk' }).x as string
  const published = { keys: [{ kid: 'mine', x }] }
  const none = (all: Statement) => ({
    ...NOTHING,
    isFinal: true,
    idsDigest: '0'.repeat(64),
    from: all.from,
  })
  const liar = lying((all) => {
    const hours = all.hours.map((hour) => ({ ...none(all), from: hour.from }))
    return { ...all, jws: forge({ ...unsigned(all), ...none(all), hours }, 'mine') }
  }, published)
  await assert.rejects(reconcileAs(refusing, { ids: [], client: liar }), { code: 'not-genuine' })
  // As docs/statements.md says: without pinned keys a service vouches for itself.
  const { isComplete, areKeysPinned } = await reconcileAs(refusing, {
    ids: [],
    client: liar,
    keys: undefined,
  })
  assert.deepEqual([isComplete, areKeysPinned], [true, false])
})

test('rows that an owner of the database writes into kept hours are in no statement', async () => {
  const honest = await client.webhooks.statement(good, window())
  await pool.query(
    `insert into statement_hours (client_key, endpoint_id, hour, delivered, superseded, exhausted,
       cancelled, ids_digest, place, authentication)
     select e.client_key, e.id, to_timestamp(ms / 1000.0), 12345, 0, 0, 0, sha256('mine'), 9223372036854775807,
       sha256('mine') || '\\x00000000'
     from endpoints e, unnest($2::float8[]) as g (ms) where e.id = $1
     on conflict (client_key, endpoint_id, hour) do update set delivered = 12345`,
    [good, honest.hours.map(({ from }) => Date.parse(from))],
  )
  const statement = await client.webhooks.statement(good, window())
  assert.equal(statement.delivered, 6)
  assert.ok(!statement.isFinal, 'the last hour is open')
  assert.ok((await reconcileAs(good)).isComplete)
})

test('a kept hour that an owner of the database alters is counted again, and counted as forged', async () => {
  // So that hours which are over were of its time, and are kept.
  await pool.query(
    `update endpoints set created_at = created_at - interval '1 day' where id = $1`,
    [refusing],
  )
  await until('some hour is kept', async () => {
    await client.webhooks.statement(refusing, window())
    const kept = await pool.query(
      `update statement_hours set delivered = delivered + 7
       where endpoint_id = $1 and authentication is not null`,
      [refusing],
    )
    return (kept.rowCount ?? 0) > 0
  })
  assert.equal((await client.webhooks.statement(refusing, window())).delivered, 0)
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text()
  const forged = /^paybell_statement_hours_forged_total(?:\{[^}]*\})? (\d+)$/m.exec(metrics)?.[1]
  assert.ok(Number(forged) > 0, metrics.slice(0, 2_000))
  await pool.query(`update endpoints set created_at = now() where id = $1`, [refusing])
})

test('by design: what an owner makes of the deliveries is what the service signs', async () => {
  // docs/statements.md, "What it does not prove".
  await pool.query(
    `delete from pending_deliveries where id = (
       select id from pending_deliveries where endpoint_id = $1 order by id limit 1)`,
    [refusing],
  )
  const { undelivered } = await reconcileAs(refusing, { ids: [] })
  assert.equal(undelivered.pending, 5)
})

test('what an operator has cancelled is not complete', async () => {
  const filter = { endpointId: refusing }
  const answer = await paybell.caller.operate('POST', '/deliveries/cancel', { filter })
  assert.ok(answer.ok, await answer.text())
  const result = await until('all are cancelled', async () => {
    const now = await reconcileAs(refusing, { ids: [] })
    return now.undelivered.pending === 0 ? now : null
  })
  assert.deepEqual([result.isComplete, result.differences], [false, []])
  assert.deepEqual(result.undelivered, { cancelled: 5, exhausted: 0, pending: 0 })
})

const [P, D] = ['2026-03-02T09:00:00Z', '2026-03-02T10:00:00Z']

/** Every odd way to write a period, and whether there is a statement of it. */
const PERIODS: readonly [name: string, query: string, status: number][] = [
  ['another zone', 'from=2026-03-02T10:00:00%2B01:00&to=2026-03-02T11:00:00%2B01:00', 200],
  ['a zone of half an hour, whole in UTC', `from=2026-03-02T14:30:00%2B05:30&to=${D}`, 200],
  ['a zone of half an hour, not whole', `from=2026-03-02T09:00:00%2B05:30&to=${D}`, 400],
  ['no zone', `from=2026-03-02T09:00:00&to=${D}`, 400],
  ['24:00', `from=2026-03-01T24:00:00Z&to=${D}`, 400],
  ['a leap second', `from=2026-03-02T08:59:60Z&to=${D}`, 400],
  ['the year 0', 'from=0000-01-01T00:00:00Z&to=0000-02-01T00:00:00Z', 200],
  ['the year 100', 'from=0100-01-01T00:00:00Z&to=0100-02-01T00:00:00Z', 200],
  ['the last instant', 'from=%2B275760-09-12T23:00:00Z&to=%2B275760-09-13T00:00:00Z', 400],
  ['the first instant', 'from=-271821-04-20T00:00:00Z&to=-271821-04-20T01:00:00Z', 400],
  ['NaN', 'from=NaN&to=NaN', 400],
  ['numbers', 'from=0&to=3600000', 400],
  ['the future', 'from=2126-03-02T09:00:00Z&to=2126-03-02T10:00:00Z', 400],
  ['31 days and an hour', `from=2026-01-30T09:00:00Z&to=${D}`, 400],
  ['its end before its beginning', `from=${D}&to=${P}`, 400],
  ['from twice', `from=${P}&from=${P}&to=${D}`, 400],
  ['a list', `from[]=${P}&to=${D}`, 400],
  ['nothing', '', 400],
]

for (const [name, query, status] of PERIODS) {
  test(`periods: ${name} is answered with ${status}, and leaves nothing behind`, async () => {
    const rows = async () =>
      (await pool.query<{ count: number }>('select count(*) as count from statement_hours')).rows
    const before = await rows()
    const answer = await caller.get(`/v1/webhooks/${refusing}/statement?${query}`)
    const body = (await answer.json()) as Statement & { code: string }
    assert.equal(answer.status, status, JSON.stringify(body).slice(0, 500))
    if (status === 200) assert.equal(body.owed, 0)
    else assert.equal(body.code, 'invalid-query')
    assert.deepEqual(await rows(), before)
  })
}
