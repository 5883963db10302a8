// What `paybell doctor` says of keys that someone has put into the database.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Keyring } from '../../../server/operations/access/keyring.ts'
import { Sealer } from '../../../server/store/secrets/sealing.ts'
import { readSigningKeys } from '../../../server/store/secrets/signing-keys.ts'
import { cloneDatabase } from '../../../test/support/database.ts'
import { serveHttp } from '../../../test/support/injected-server.ts'
import { checkKeys } from './key-checks.ts'

test('regression: doctor names the keys that are not authenticated, and says what to do', async (t) => {
  const { pool } = await cloneDatabase()
  const masterKey = randomBytes(32)
  const { deps } = await serveHttp(t, pool, { sealer: new Sealer([masterKey]) })
  await new Keyring(deps).signer()
  await deps.webhookKeys.publicKeys()
  const check = async () => [
    ...checkKeys(
      { masterKeys: [masterKey] },
      {
        keys: {
          signing_keys: await readSigningKeys(pool, 'signing_keys'),
          webhook_keys: await readSigningKeys(pool, 'webhook_keys'),
        },
      },
    ),
  ]
  assert.deepEqual(await check(), [
    { name: 'keys', status: 'ok', detail: '2 keys, all authenticated' },
  ])
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  for (const table of ['signing_keys', 'webhook_keys']) {
    await pool.query(
      `insert into ${table} (kid, public_jwk, private_key, created_at) values ('mine', $1, '\\x00', now())`,
      [{ kid: 'mine', x }],
    )
  }
  const found = await check()
  assert.deepEqual(
    found.map(({ status }) => status),
    ['failed', 'failed'],
  )
  assert.match(found[0]?.detail ?? '', /in signing_keys: mine \(whpk_/)
  assert.match(found[1]?.detail ?? '', /in webhook_keys: mine \(whpk_/)
  assert.match(found[1]?.remedy ?? '', /webhook-keys adopt/)
})
