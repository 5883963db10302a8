// A database that an earlier version has begun, on its way to being bound to addresses: what was sealed before is opened until
// it is resealed, then no more. And what the database says of it is worth what the master key says.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  type StoredEndpoint,
  storeClient,
  storeEndpoint,
} from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'
import { isBound, Sealer } from '../../store/secrets/sealing.ts'
import { finishBinding, holdSealing, learnSealing, startBinding } from './bind-addresses.ts'
import { resealAllEndpoints, resealSecrets } from './reseal-secrets.ts'
import { tendBinding } from './tend-binding.ts'

const [VERSION, BEFORE] = ['1.1.0', '1.0.0']
const [OLD, NEW] = [randomBytes(32), randomBytes(32)]
const TOKEN = { tokenUrl: 'https://bank.example/token', clientId: 'paybell' }
/** As a version that knows of no addresses seals. */
const former = new Sealer([OLD], { isDerived: true })

let pool: Pool
let endpoint: StoredEndpoint

/** With everything that an endpoint can have sealed, by the version before. */
beforeEach(async () => {
  ;({ pool } = await cloneDatabase())
  await pool.query(`update sealing set binding = 'none'`)
  const { clientKey } = await storeClient(pool)
  endpoint = await storeFormer(clientKey)
})

async function storeFormer(clientKey: number, secret: string | null = 'at the bank') {
  const stored = await storeEndpoint(pool, clientKey)
  const seal = (column: string, text: string) =>
    former.seal(Buffer.from(text), { column: `endpoints.${column}`, row: stored.endpointId })
  await pool.query(
    `update endpoints set shared_key = $2, previous_key = $3, previous_key_until = now(),
       header_name = 'A', header_value = $4, oauth2 = $5, oauth2_secret = $6,
       deliver = 'every', document = 'inline', signatures = '{hmac}', hmac_header_name = 'X-Paybell-Hmac'
     where id = $1`,
    [
      ...[stored.endpointId, seal('shared_key', 'the key'), seal('previous_key', 'the one before')],
      ...[seal('header_value', 'a value'), TOKEN, secret && seal('oauth2_secret', secret)],
    ],
  )
  return stored
}

const start = async (keys = [OLD]) => {
  const sealer = new Sealer(keys)
  return { sealer, ...(await learnSealing({ pool, sealer })) }
}
const read = async (sealer: Sealer, key = endpoint) =>
  (await readSendingEndpoints(pool, sealer, [key]))[0]?.secrets ?? null

async function assertWhole(sealer: Sealer, key = endpoint): Promise<void> {
  const secrets = await read(sealer, key)
  assert.equal(secrets?.keys.current.export().toString(), 'the key')
  assert.equal(secrets?.keys.previous?.key.export().toString(), 'the one before')
  assert.deepEqual(secrets?.extraHeader, ['A', 'a value'])
  assert.equal(secrets?.oauth2?.tokenUrl, TOKEN.tokenUrl)
}

const turnTo = (url: string) => pool.query('update endpoints set url = $1', [url])
const stateOf = async () => (await pool.query('select * from sealing')).rows[0]

async function bind(): Promise<Sealer> {
  const { sealer } = await start()
  assert.deepEqual(await startBinding({ pool, sealer }, VERSION), [])
  assert.equal((await resealAllEndpoints({ pool, sealer })).unreadable, 0)
  assert.equal(await finishBinding({ pool, sealer }), true)
  return sealer
}

test('what an earlier version has sealed goes on as it was until it is resealed, then it is bound', async () => {
  const { sealer, binding } = await start()
  assert.equal(binding, 'none')
  await assertWhole(sealer)
  const field = { column: 'endpoints.shared_key', row: endpoint.endpointId, address: 'x' }
  assert.ok(!isBound(sealer.seal(Buffer.from('k'), field)), 'the version before could read it')

  await startBinding({ pool, sealer }, VERSION)
  assert.equal(sealer.binding, 'begun')
  await assertWhole(sealer)
  assert.equal(await finishBinding({ pool, sealer }), false, 'nothing is refused that is unbound')
  assert.deepEqual(await resealAllEndpoints({ pool, sealer }), { resealed: 1, unreadable: 0 })
  assert.equal(await finishBinding({ pool, sealer }), true)
  await assertWhole(sealer)
  await assertWhole((await start()).sealer)
  await turnTo('https://thief.example/')
  assert.equal(await read(sealer), null)
  assert.equal(await read((await start()).sealer), null)
})

test('an endpoint whose proof is no secret is bound to its token endpoint as well', async () => {
  const { clientKey } = endpoint
  const without = await storeFormer(clientKey, null)
  const sealer = await bind()
  assert.equal((await read(sealer, without))?.oauth2?.clientSecret, null)
  await pool.query('update endpoints set oauth2_secret = null where id = $1', [without.endpointId])
  assert.equal(await read(sealer, without), null)
})

test('the version before cannot open what is bound, and so sends nothing', async () => {
  await bind()
  const { rows } = await pool.query('select shared_key from endpoints')
  const field = { column: 'endpoints.shared_key', row: endpoint.endpointId }
  assert.throws(() => former.open(rows[0].shared_key, field), /sealed for an address/)
  assert.ok(![1, 2].includes(rows[0].shared_key[0]), 'nor does it know the form')
})

test('it does not begin while a process of another version lives, nor for a day after it', async () => {
  const { sealer } = await start()
  await pool.query(`insert into processes values ($1, 'a', $2, now(), clock_timestamp())`, [
    randomUUID(),
    BEFORE,
  ])
  assert.deepEqual(await startBinding({ pool, sealer }, VERSION), [BEFORE])
  const begunMs = Date.now()
  /** As upkeep does it each hour. */
  const tendFor = async (fromHour: number, toHour: number, version = VERSION) => {
    let count = 0
    for (let hour = fromHour; hour <= toHour; hour++) {
      const now = new Date(begunMs + hour * 3_600_000)
      count += await tendBinding({ pool, sealer }, version, now)
    }
    return [count, sealer.binding]
  }
  assert.deepEqual(await tendFor(0, 30), [0, 'none'])
  await pool.query('delete from processes')
  assert.deepEqual(await tendFor(31, 54), [0, 'none'])
  // No one has looked for half a day: the version before may have lived.
  assert.deepEqual(await tendFor(66, 89), [0, 'none'])
  assert.deepEqual(await tendFor(90, 113, '1.1.1'), [0, 'none'], 'a day of each version')
  assert.deepEqual(await tendFor(114, 114, '1.1.1'), [1, 'done'])
  await assertWhole(sealer)
})

test('what does not open keeps it from its end, unless it is deleted', async () => {
  const damaged = await storeEndpoint(pool, endpoint.clientKey)
  const { sealer } = await start()
  await startBinding({ pool, sealer }, VERSION)
  assert.deepEqual(await resealAllEndpoints({ pool, sealer }), { resealed: 1, unreadable: 1 })
  assert.equal(await finishBinding({ pool, sealer }), false)
  await pool.query('update endpoints set deleted_at = now() where id = $1', [damaged.endpointId])
  assert.equal(await finishBinding({ pool, sealer }), true)
})

test('after a rotation of the master key it is bound as before', async () => {
  await bind()
  const { sealer } = await start([NEW, OLD])
  assert.equal((await resealSecrets({ pool, sealer })).endpoints, 1)
  const { sealer: later, binding, isWrong } = await start([NEW])
  assert.deepEqual([binding, isWrong], ['done', false])
  await assertWhole(later)
  await turnTo('https://thief.example/')
  assert.equal(await read(later), null)
})

test('resealing binds nothing to an address that it was not for', async () => {
  await bind()
  await turnTo('https://thief.example/')
  const { sealer } = await start([NEW, OLD])
  const { endpoints, unreadable } = await resealSecrets({ pool, sealer })
  assert.deepEqual([endpoints, unreadable], [0, 1])
})

test('an address that changes between the reading and the writing is not bound', async () => {
  const { sealer } = await start()
  await startBinding({ pool, sealer }, VERSION)
  let isTurned = false
  const racing = {
    query: async (config: { name?: string }) => {
      if (config.name === 'replace-sealed-endpoints' && !isTurned) {
        isTurned = true
        await turnTo('https://thief.example/')
        const { rowCount } = await pool.query(config as never)
        assert.equal(rowCount, 0)
        await turnTo(`https://receiver.test/${endpoint.endpointId}`)
        return { rowCount }
      }
      return pool.query(config as never)
    },
  } as unknown as Pool
  assert.equal((await resealAllEndpoints({ pool: racing, sealer })).resealed, 1)
  await assertWhole(sealer)
})

const DUMPED = `update endpoints set url = 'https://thief.example/', shared_key = $1,
  previous_key = null, previous_key_until = null, header_name = null, header_value = null,
  oauth2 = null, oauth2_secret = null`
const MARKS = [
  `binding = 'none'`,
  `binding = 'begun'`,
  `binding = 'none', binding_authentication = null`,
  `binding_authentication = '\\x00'`,
]
for (const mark of MARKS) {
  test(`a mark that says ${mark.replaceAll("'", '')} lets nothing unbound open, also in a process that starts`, async () => {
    const { rows } = await pool.query('select shared_key from endpoints')
    const { clientKey } = endpoint
    await storeFormer(clientKey)
    const sealer = await bind()
    await pool.query(`update sealing set ${mark}`)
    const judged = await learnSealing({ pool, sealer })
    assert.deepEqual(judged, { binding: 'done', isWrong: true })
    // From a dump of the time before: at the thief's address.
    await pool.query(`${DUMPED} where id = $2`, [rows[0].shared_key, endpoint.endpointId])
    assert.equal(await read(sealer), null)
    const again = await start()
    assert.deepEqual([again.binding, again.isWrong], ['done', true])
    assert.equal(await read(again.sealer), null)
    assert.equal((await resealSecrets({ pool, sealer: again.sealer })).unreadable, 1)
    const restored = await start()
    assert.deepEqual([restored.binding, restored.isWrong], ['done', false], 'reseal sets it again')
    assert.equal(await read(restored.sealer), null)
  })
}

test('a mark of the time before the end is seen by a process that knows of the end', async () => {
  const { sealer } = await start()
  await startBinding({ pool, sealer }, VERSION)
  const { binding_authentication: begun } = await stateOf()
  await resealAllEndpoints({ pool, sealer })
  await finishBinding({ pool, sealer })
  await pool.query(`update sealing set binding = 'begun', binding_authentication = $1`, [begun])
  const judged = await learnSealing({ pool, sealer })
  assert.deepEqual(judged, { binding: 'done', isWrong: true })
})

test('a forged end binds nothing, and keeps no endpoint from opening', async () => {
  await pool.query(`update sealing set binding = 'done', binding_authentication = '\\x00'`)
  const { sealer, binding, isWrong } = await start()
  assert.deepEqual([binding, isWrong], ['none', true])
  await assertWhole(sealer)
  await startBinding({ pool, sealer }, VERSION)
  assert.equal(sealer.binding, 'begun', 'nor does it stand in the way')
})

test('a process that has not heard of the beginning writes nothing unbound after it', async () => {
  const { sealer } = await start()
  const { sealer: other } = await start()
  await inTransaction(pool, (db) => holdSealing(db, other))
  assert.equal(other.binding, 'none')
  await startBinding({ pool, sealer }, VERSION)
  await inTransaction(pool, (db) => holdSealing(db, other))
  assert.equal(other.binding, 'begun')
})

test('two processes that start on a new database agree', async () => {
  const { pool: fresh } = await cloneDatabase()
  const sealers = Array.from({ length: 8 }, () => new Sealer([OLD]))
  const judged = await Promise.all(sealers.map((sealer) => learnSealing({ pool: fresh, sealer })))
  assert.ok(judged.every(({ isWrong }) => !isWrong))
  assert.ok(sealers.every(({ binding }) => binding !== 'none'))
  const later = new Sealer([OLD])
  const { binding, isWrong } = await learnSealing({ pool: fresh, sealer: later })
  assert.deepEqual([binding, isWrong], ['done', false])
})
