// Stored secrets (D1, F17, H5): nothing readable in any table, and a secret that does not open stops its
// own deliveries and no others.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { everything, spellings } from '../support/leaks.ts'
import { readDeliveries, startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

test('D1: no shared key, header value, client secret, operator key or token is in any table, raw, base64 or hex', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  const canary = () => `canary-${randomBytes(12).toString('hex')}`
  const [oldKey, newKey, subscriptionKey, headerValue] = [canary(), canary(), canary(), canary()]
  receiver.answer = () => (receiver.received.length < 2 ? 500 : 200)
  await paybell.caller.register(receiver.url('/a'), oldKey)
  await paybell.caller.register(receiver.url('/a'), newKey)
  const subscription = { callbackUrl: receiver.url('/b'), sharedKey: subscriptionKey }
  await paybell.caller.subscribe({ ...subscription, headerKey: 'X-Canary', headerValue })
  const id = await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length >= 2)
  assert.ok(receiver.received.some(({ headers }) => headers['x-canary'] === headerValue))
  await until('attempts are recorded', async () => {
    const { rows } = await paybell.pool.query('select count(*)::int as count from attempts')
    return rows[0].count >= 2
  })

  const secrets = [oldKey, newKey, subscriptionKey, headerValue, paybell.clientSecret]
  secrets.push(paybell.operatorKey, paybell.masterKey.toString('base64'))
  secrets.push(paybell.masterKey.toString('hex'), await paybell.caller.token())
  const needles = secrets.flatMap(spellings)
  let rows = 0
  for await (const { table, text } of everything(paybell.pool)) {
    rows++
    for (const needle of needles) assert.ok(!text.includes(needle), `a canary is in ${table}`)
  }
  assert.ok(rows > 50, 'something was searched')
  // The search would find them: what is not secret is there.
  const { rows: found } = await paybell.pool.query('select 1 from events where text like $1', [
    `%${id}%`,
  ])
  assert.equal(found.length, 1)
})

test('D1: equal secrets are stored differently', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  for (const path of ['/a', '/b', '/c'])
    await paybell.caller.register(receiver.url(path), 'same key')
  const { rows } = await paybell.pool.query('select distinct shared_key from endpoints')
  assert.equal(rows.length, 3)
})

const DAMAGES: [string, string][] = [
  [
    'a key swapped between rows',
    `update endpoints e set shared_key = o.shared_key, changed_at = clock_timestamp()
     from endpoints o where e.url like '%/one' and o.url like '%/two'`,
  ],
  [
    'a key cut short',
    `update endpoints set shared_key = substr(shared_key, 1, 20), changed_at = clock_timestamp()
     where url like '%/one'`,
  ],
  [
    'a header value swapped into the key’s column',
    `update endpoints set shared_key = header_value, changed_at = clock_timestamp()
     where url like '%/one'`,
  ],
  [
    'a header value with one bit changed',
    `update endpoints set header_value = set_byte(header_value, length(header_value) - 1,
       get_byte(header_value, length(header_value) - 1) # 1), changed_at = clock_timestamp()
     where url like '%/one'`,
  ],
]

for (const [name, damage] of DAMAGES) {
  test(`F17, H5: ${name}: the attempt fails with undecryptable-key, on schedule, and others flow`, async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    for (const path of ['/one', '/two', '/three']) {
      const subscription = { callbackUrl: receiver.url(path), sharedKey: `key of ${path}` }
      await paybell.caller.subscribe({ ...subscription, headerKey: 'X-A', headerValue: 'value' })
    }
    await paybell.pool.query(damage)
    // The service looks for such changes once a second.
    const id = randomUUID()
    let version = 1
    await until('the damage is noticed', async () => {
      await paybell.caller.putSample(id, { version: version++, reference: `${version}` })
      const { rows } = await paybell.pool.query(
        `select 1 from attempts where outcome = 'undecryptable-key'`,
      )
      return rows.length > 0
    })
    const before = receiver.received.filter(({ path }) => path === '/one').length
    const last = randomUUID()
    await paybell.caller.putSample(last)
    await receiver.hasSeen(
      ({ accepted }) => accepted.filter(({ body }) => body.includes(last)).length === 2,
    )
    const { rows } = await paybell.pool.query(`select id from endpoints where url like '%/one'`)
    const { attempts, nextAttemptAt } = await until('its attempt is recorded', async () => {
      const all = await readDeliveries(paybell.pool)
      const spoiled = all.find((each) => each.paymentId === last && each.endpointId === rows[0].id)
      return spoiled?.lastOutcome === 'undecryptable-key' && spoiled
    })
    assert.equal(attempts, 1, 'no hot loop')
    assert.ok(Number(nextAttemptAt) > Date.now() + 2_000, 'retried on schedule')
    const after = receiver.received.filter(({ path }) => path === '/one').length
    assert.equal(after, before, 'nothing was sent unsigned, or under another key')
  })
}
