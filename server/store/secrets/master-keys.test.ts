import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { STORED_AT, storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import { countSecretsByMasterKey } from './master-keys.ts'
import { Sealer } from './sealing.ts'

test('every stored secret counts under the key that it needs; those of deleted endpoints do not', async () => {
  const { pool } = await cloneDatabase()
  assert.deepEqual(await countSecretsByMasterKey(pool), new Map())
  const [one, other] = [new Sealer([randomBytes(32)]), new Sealer([randomBytes(32)])]
  const seal = (sealer: Sealer) => sealer.seal(Buffer.from('x'), { column: 'c', row: 'r' })
  const { clientKey } = await storeClient(pool)
  const [kept, deleted] = [
    await storeEndpoint(pool, clientKey),
    await storeEndpoint(pool, clientKey),
  ]
  await pool.query(
    `update endpoints set shared_key = $2, previous_key = $3, previous_key_until = now(),
       header_name = 'A', header_value = $2 where id = $1`,
    [kept.endpointId, seal(one), seal(other)],
  )
  await pool.query('update endpoints set shared_key = $2, deleted_at = now() where id = $1', [
    deleted.endpointId,
    seal(other),
  ])
  await pool.query('insert into client_secrets values ($1, $2, $3, $4, $5)', [
    clientKey,
    randomUUID(),
    one.digest('secret'),
    one.writeKeyId,
    STORED_AT,
  ])
  await pool.query(`insert into signing_keys values ('k', '{}', $1, $2, null)`, [
    seal(other),
    STORED_AT,
  ])
  assert.deepEqual(
    await countSecretsByMasterKey(pool),
    new Map([
      [one.writeKeyId, 3],
      [other.writeKeyId, 2],
    ]),
  )
})
