import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { STORED_AT, storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import { readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'
import { insertCertificate, readCertificates } from '../../store/secrets/client-certificates.ts'
import { countSecretsByMasterKey } from '../../store/secrets/master-keys.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { Readiness } from '../../telemetry/readiness.ts'
import { resealSecrets } from './reseal-secrets.ts'

const [OLD, NEW] = [randomBytes(32), randomBytes(32)]
const oldSealer = new Sealer([OLD])
const both = new Sealer([NEW, OLD])
const newSealer = new Sealer([NEW])

async function storeSecrets(pool: Pool, clientKey: number): Promise<string> {
  const { endpointId } = await storeEndpoint(pool, clientKey)
  const seal = (column: string, text: string) =>
    oldSealer.seal(Buffer.from(text), { column: `endpoints.${column}`, row: endpointId })
  await pool.query(
    `update endpoints set shared_key = $2, previous_key = $3, previous_key_until = now(),
       header_name = 'A', header_value = $4, oauth2 = '{}', oauth2_secret = $5,
       deliver = 'every', document = 'inline', signatures = '{hmac}', hmac_header_name = 'X-Paybell-Hmac'
     where id = $1`,
    [
      endpointId,
      seal('shared_key', `key of ${endpointId}`),
      seal('previous_key', 'the one before'),
      seal('header_value', 'a value'),
      seal('oauth2_secret', 'a token client’s'),
    ],
  )
  return endpointId
}

test('after resealing, no sealed secret needs the old master key, and all still open', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  const ids: string[] = []
  for (let n = 0; n < 30; n++) ids.push(await storeSecrets(pool, clientKey))
  const place = { column: 'signing_keys.private_key', row: 'kid' }
  await pool.query(`insert into signing_keys values ('kid', '{}', $1, $2, null)`, [
    oldSealer.seal(Buffer.from('private'), place),
    STORED_AT,
  ])
  const certificateId = randomUUID()
  const certificatePlace = { column: 'client_certificates.private_key', row: certificateId }
  await insertCertificate(pool, {
    id: certificateId,
    name: 'pix',
    subject: 'CN=paybell',
    sealedPrivateKey: oldSealer.seal(Buffer.from('its key'), certificatePlace),
    requestPem: 'a request',
    chain: null,
    isDefault: false,
    clients: [],
    createdAt: STORED_AT,
  })
  const before = await new Readiness(pool, newSealer).check()
  assert.equal(before.ready, false)
  assert.match(before.reasons.join(), /122 stored secrets need it/)

  const { rows: times } = await pool.query('select changed_at from endpoints order by id')
  const progress: number[] = []
  const done = await resealSecrets({ pool, sealer: both }, (count) => progress.push(count))
  assert.deepEqual(done, {
    endpoints: 30,
    signingKeys: 1,
    clientCertificates: 1,
    authenticatedKeys: 0,
    untrustedKeys: 1,
    unreadable: 0,
    clientSecrets: 0,
    operatorKeys: 0,
  })
  assert.equal(progress.at(-1), 30)
  assert.deepEqual(await countSecretsByMasterKey(pool), new Map([[newSealer.writeKeyId, 122]]))
  assert.deepEqual(await new Readiness(pool, newSealer).check(), { ready: true, reasons: [] })
  const keys = ids.map((endpointId) => ({ clientKey, endpointId }))
  for (const endpoint of await readSendingEndpoints(pool, newSealer, keys)) {
    const text = endpoint.secrets?.keys.current.export().toString()
    assert.equal(text, `key of ${endpoint.id}`)
    assert.deepEqual(endpoint.secrets?.extraHeader, ['A', 'a value'])
    assert.equal(endpoint.secrets?.oauth2?.clientSecret, 'a token client’s')
    assert.equal(endpoint.secrets?.keys.previous?.key.export().toString(), 'the one before')
  }
  const [certificate] = await readCertificates(pool)
  const opened = newSealer.open(certificate?.sealedPrivateKey ?? Buffer.of(), certificatePlace)
  assert.equal(opened.toString(), 'its key')
  const after = await pool.query('select changed_at from endpoints order by id')
  assert.deepEqual(after.rows, times, 'nothing that anybody has to hear of')
  const again = await resealSecrets({ pool, sealer: both })
  assert.equal(again.endpoints + again.signingKeys, 0, 'run again, it finds nothing to do')
})

test('what does not open is counted and left alone; HMACs are counted', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  await storeSecrets(pool, clientKey)
  const damaged = await storeSecrets(pool, clientKey)
  await pool.query(
    `update endpoints set shared_key = set_byte(shared_key, 30, 255 - get_byte(shared_key, 30))
     where id = $1`,
    [damaged],
  )
  await pool.query('insert into client_secrets values ($1, $2, $3, $4, $5)', [
    clientKey,
    randomUUID(),
    oldSealer.digest('secret'),
    oldSealer.writeKeyId,
    STORED_AT,
  ])
  const done = await resealSecrets({ pool, sealer: both })
  assert.deepEqual(done, {
    endpoints: 1,
    signingKeys: 0,
    clientCertificates: 0,
    authenticatedKeys: 0,
    untrustedKeys: 0,
    unreadable: 1,
    clientSecrets: 1,
    operatorKeys: 0,
  })
  const counts = await countSecretsByMasterKey(pool)
  assert.equal(counts.get(oldSealer.writeKeyId), 5, 'a damaged endpoint, and one client secret')
})

test('an endpoint that changes during the resealing keeps its change', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  const endpointId = await storeSecrets(pool, clientKey)
  const place = { column: 'endpoints.shared_key', row: endpointId }
  const newer = both.seal(Buffer.from('a newer key'), place)
  let isChanged = false
  const racing = {
    query: async (config: { name?: string }) => {
      if (config.name === 'replace-sealed-endpoints' && !isChanged) {
        isChanged = true
        await pool.query('update endpoints set shared_key = $2 where id = $1', [endpointId, newer])
      }
      return pool.query(config as never)
    },
  } as unknown as Pool
  const done = await resealSecrets({ pool: racing, sealer: both })
  assert.equal(done.endpoints, 1, 'in the second pass')
  const [endpoint] = await readSendingEndpoints(pool, newSealer, [{ clientKey, endpointId }])
  assert.equal(endpoint?.secrets?.keys.current.export().toString(), 'a newer key')
})
