import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  STORED_AT,
  type StoredEndpoint,
  setStatus,
  storeClient,
  storeEndpoint,
} from '../../../test/support/stored-deliveries.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { Sealer } from '../secrets/sealing.ts'
import { readChangedEndpoints, readSendingEndpoints } from './sending-endpoints.ts'

const { pool } = await cloneDatabase()
const sealer = new Sealer([randomBytes(32)])
let endpoint: StoredEndpoint

beforeEach(async () => {
  const { clientKey } = await storeClient(pool)
  endpoint = await storeEndpoint(pool, clientKey)
  await setSecrets({ shared_key: seal('shared_key', 'current') })
})

function seal(column: string, secret: string, row = endpoint.endpointId): Buffer {
  return sealer.seal(Buffer.from(secret), { column: `endpoints.${column}`, row })
}

async function setSecrets(columns: Record<string, unknown>): Promise<void> {
  const names = Object.keys(columns)
  await pool.query(
    `update endpoints set ${names.map((name, at) => `${name} = $${at + 2}`)} where id = $1`,
    [endpoint.endpointId, ...Object.values(columns)],
  )
}

async function read(key: { clientKey: number; endpointId: string } = endpoint) {
  return (await readSendingEndpoints(pool, sealer, [key]))[0]
}

test('it comes with its keys opened and its extra header', async () => {
  const until = new Date(STORED_AT.getTime() + 1_000)
  await setSecrets({
    previous_key: seal('previous_key', 'previous'),
    previous_key_until: until,
    header_name: 'Authorization',
    header_value: seal('header_value', 'Basic ü'),
  })
  const found = await read()
  assert.equal(found?.id, endpoint.endpointId)
  assert.equal(found?.shard, 7)
  assert.ok(found?.isActive)
  assert.equal(found?.secrets?.keys.current.export().toString(), 'current')
  assert.equal(found?.secrets?.keys.previous?.key.export().toString(), 'previous')
  assert.equal(found?.secrets?.keys.previous?.untilMs, until.getTime())
  assert.deepEqual(found?.secrets?.extraHeader, ['Authorization', 'Basic ü'])
})

const WHOLE = {
  ...{ deliver: 'every', document: 'inline', signatures: ['hmac'], hmac_header_name: 'X-A' },
  oauth2: { tokenUrl: 'https://bank.example/token', clientId: 'paybell' },
}

test('the secret of its token client is opened; one that does not open is a value', async () => {
  await setSecrets({ ...WHOLE, oauth2_secret: seal('oauth2_secret', 'secret') })
  const { endpointId } = endpoint
  const found = await read()
  assert.deepEqual(found?.secrets?.oauth2, { ...WHOLE.oauth2, endpointId, clientSecret: 'secret' })
  await setSecrets({ oauth2_secret: seal('oauth2_secret', 'secret', randomUUID()) })
  assert.equal((await read())?.secrets, null)
  await setSecrets({ oauth2_secret: null })
  assert.equal((await read())?.secrets?.oauth2?.clientSecret, null, 'with a key there is none')
})

test('without a previous key and a header, there are none', async () => {
  const found = await read()
  assert.equal(found?.secrets?.keys.previous, null)
  assert.equal(found?.secrets?.extraHeader, null)
})

test('only an endpoint that is active and not deleted is active', async () => {
  for (const status of ['PAUSED', 'DISABLED']) {
    await setStatus(pool, endpoint, status)
    assert.equal((await read())?.isActive, false)
  }
  await setStatus(pool, endpoint, 'ACTIVE')
  assert.equal((await read())?.isActive, true)
  await setSecrets({ deleted_at: STORED_AT })
  assert.equal((await read())?.isActive, false)
})

test('F17: a secret that does not open is a value, and the neighbours come all the same', async () => {
  const damaged = await storeEndpoint(pool, endpoint.clientKey)
  const moved = await storeEndpoint(pool, endpoint.clientKey)
  await pool.query('update endpoints set shared_key = $2 where id = $1', [
    moved.endpointId,
    seal('shared_key', 'current'),
  ])
  const found = await readSendingEndpoints(pool, sealer, [endpoint, damaged, moved])
  const opened = new Map(found.map(({ id, secrets }) => [id, secrets !== null]))
  assert.deepEqual(
    opened,
    new Map([
      [endpoint.endpointId, true],
      [damaged.endpointId, false],
      [moved.endpointId, false],
    ]),
  )
  await setSecrets({ header_name: 'A', header_value: Buffer.from('junk') })
  assert.equal((await read())?.secrets, null)
})

test('an endpoint of another client, or of nobody, is not found', async () => {
  assert.equal(await read({ ...endpoint, clientKey: endpoint.clientKey + 1_000 }), undefined)
  assert.equal(await read({ ...endpoint, endpointId: randomUUID() }), undefined)
})

test('I13: what changed since a moment is told, later changes only', async () => {
  const changedAt = new Date('2031-01-01T00:00:00.500Z')
  await setSecrets({ changed_at: changedAt })
  const read = (sinceMs: number, afterId = NIL_UUID) =>
    readChangedEndpoints(pool, sinceMs, afterId, 10)
  const changed = await read(changedAt.getTime() - 1)
  const { clientKey, endpointId, shard } = endpoint
  const changedAtMs = changedAt.getTime()
  assert.deepEqual(changed, [{ clientKey, endpointId, shard, retriedAtMs: 0, changedAtMs }])
  assert.deepEqual(await read(changedAt.getTime()), [])
  assert.deepEqual(await read(changedAt.getTime() - 1, endpointId), [])
})
