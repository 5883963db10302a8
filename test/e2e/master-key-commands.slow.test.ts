// `paybell signing-keys rotate`, `paybell webhook-keys rotate` and `paybell reseal`, as an operator who changes the master key runs them:
// on the database itself, without a running service.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { countSecretsByMasterKey } from '../../server/store/secrets/master-keys.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { callCommand } from '../support/called-command.ts'
import { cloneDatabase } from '../support/database.ts'

test('signing keys are made under one master key and resealed under the next', async () => {
  const { url, pool } = await cloneDatabase()
  const [old, next, strange] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const
  const run = (args: readonly string[], ...masterKeys: readonly Buffer[]) =>
    callCommand([...args, '--json'], {
      env: {
        DATABASE_URL: url,
        PAYBELL_MASTER_KEY: masterKeys.map((key) => key.toString('base64')).join(),
        PAYBELL_OPERATOR_KEY: 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA',
      },
    })

  const rotated = await run(['signing-keys', 'rotate'], old)
  assert.equal(rotated.code, 0, rotated.stderr)
  const { rows } = await pool.query('select kid from signing_keys')
  assert.deepEqual(rows, [JSON.parse(rotated.stdout)])
  const ofWebhooks = await run(['webhook-keys', 'rotate'], old)
  assert.equal(ofWebhooks.code, 0, ofWebhooks.stderr)
  const found = await pool.query('select kid from webhook_keys')
  assert.deepEqual(found.rows, [JSON.parse(ofWebhooks.stdout)])

  const blind = await run(['reseal'], strange)
  assert.equal(blind.code, 1, 'it says that it cannot open a secret')
  assert.equal(JSON.parse(blind.stdout).unreadable, 2)

  const resealed = await run(['reseal'], next, old)
  assert.equal(resealed.code, 0, resealed.stderr)
  assert.equal(JSON.parse(resealed.stdout).signingKeys, 2)
  const { writeKeyId } = new Sealer([next])
  assert.equal(JSON.parse(resealed.stdout).binding, 'done')
  // Each has a sealed private part and an authenticated public one; and so has the word that binding is done.
  assert.deepEqual(await countSecretsByMasterKey(pool), new Map([[writeKeyId, 5]]))
})
