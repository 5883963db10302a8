import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { onboard, serveHttp } from '../../test/support/injected-server.ts'
import { storeClient, storeEndpoint } from '../../test/support/stored-deliveries.ts'
import { resealSecrets } from '../operations/sealing/reseal-secrets.ts'
import { readSendingEndpoints } from '../store/owed/sending-endpoints.ts'
import { Sealer } from '../store/secrets/sealing.ts'
import { beginDerivedKeys } from '../store/secrets/sealing-form.ts'
import { SealingFormPolls } from './sealing-form-polls.ts'

const GONE_AFTER_MS = 60_000
const SILENT = { error() {} }

test('a database that begins with this release has derived keys from the start', async () => {
  const { pool } = await cloneDatabase()
  const sealer = new Sealer([randomBytes(32)])
  await new SealingFormPolls({ pool, sealer }, SILENT).ask()
  assert.match(sealer.digestKeyId, /\/2$/)
  assert.equal(sealer.binding, 'done', 'and binds to addresses')
})

test('an older one goes on as it was until no other version is alive and it is asked for', async () => {
  const { pool } = await cloneDatabase()
  await pool.query(`update sealing set is_derived = false, binding = 'none'`)
  const sealer = new Sealer([randomBytes(32)])
  const form = new SealingFormPolls({ pool, sealer }, SILENT)
  const isDerived = async () => {
    await form.ask()
    return sealer.digestKeyId.endsWith('/2')
  }
  assert.equal(await isDerived(), false)
  const { clientKey } = await storeClient(pool)
  const { endpointId } = await storeEndpoint(pool, clientKey)
  const place = { column: 'endpoints.shared_key', row: endpointId }
  const written = sealer.seal(Buffer.from('the key'), place)
  await pool.query('update endpoints set shared_key = $1', [written])

  await pool.query(
    `insert into processes values ($1, 'a', '0.0.9', now(), clock_timestamp()), ($2, 'b', '1.0.0', now(),
       clock_timestamp()), ($3, 'c', '0.0.8', now(), clock_timestamp() - interval '1 hour')`,
    [randomUUID(), randomUUID(), randomUUID()],
  )
  assert.deepEqual(await beginDerivedKeys(pool, '1.0.0', GONE_AFTER_MS), ['0.0.9'])
  assert.equal(await isDerived(), false)
  await pool.query(`delete from processes where version = '0.0.9'`)
  assert.deepEqual(await beginDerivedKeys(pool, '1.0.0', GONE_AFTER_MS), [])
  assert.equal(await isDerived(), true)

  const done = await resealSecrets({ pool, sealer })
  assert.deepEqual([done.endpoints, done.unreadable], [1, 0])
  const { rows } = await pool.query('select shared_key from endpoints')
  assert.equal(rows[0].shared_key[0], 2)
  const [endpoint] = await readSendingEndpoints(pool, sealer, [{ clientKey, endpointId }])
  assert.equal(endpoint?.secrets?.keys.current.export().toString(), 'the key')
  const again = await resealSecrets({ pool, sealer })
  assert.equal(again.endpoints, 0)
})

test('a login under the old form works, and stores the new one', async (t) => {
  const { pool } = await cloneDatabase()
  await pool.query(`update sealing set is_derived = false, binding = 'none'`)
  const sealer = new Sealer([randomBytes(32)])
  const server = await serveHttp(t, pool, { sealer })
  const { clientId, clientSecret } = await onboard(server)
  const stored = async () =>
    (await pool.query('select digest, master_key_id from client_secrets')).rows[0]
  const before = await stored()
  sealer.writeDerived()
  const login = () =>
    server.app.inject({ method: 'POST', url: '/auth/token', payload: { clientId, clientSecret } })
  assert.equal((await login()).statusCode, 200)
  const after = await stored()
  assert.equal(after.master_key_id, `${before.master_key_id}/2`)
  assert.notDeepEqual(after.digest, before.digest)
  assert.equal((await login()).statusCode, 200)
  assert.deepEqual(await stored(), after)
})
