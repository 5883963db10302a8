// Whose the certificates are that were there before they were anyone's; and who counts as a user of one.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { migrateTo } from '../../../test/support/older-schema.ts'
import { storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import { migrate } from '../schema/migrate.ts'
import { countCertificateUses, countChoices, readCertificates } from './client-certificates.ts'

/** As the version before writes it. */
async function storeCertificate(pool: Pool, isDefault: boolean): Promise<string> {
  const id = randomUUID()
  await pool.query(
    `insert into client_certificates (id, name, subject, private_key, chain_pem, fingerprint,
       not_before, not_after, is_default, created_at)
     values ($1::uuid, ($1::uuid)::text, 'CN=paybell', '\\x00', 'pem', '\\x00', now(), now(), $2, now())`,
    [id, isDefault],
  )
  return id
}

async function storeChoosing(pool: Pool, clientKey: number, choice: string, isDeleted = false) {
  const { endpointId } = await storeEndpoint(pool, clientKey)
  await pool.query(
    `update endpoints set client_certificate = $2, deleted_at = case when $3 then now() end
     where id = $1`,
    [endpointId, choice, isDeleted],
  )
}

test('a certificate becomes that of the clients whose endpoints are shown it, and of no others', async () => {
  const { url, pool } = await cloneDatabase({ template: 'template0' })
  await migrateTo(url, '0071_ended_signs')
  const keys: number[] = []
  for (let n = 0; n < 4; n++) keys.push((await storeClient(pool)).clientKey)
  const [a = 0, b = 0, c = 0, d = 0] = keys
  const [named, standard, unused] = [
    await storeCertificate(pool, false),
    await storeCertificate(pool, true),
    await storeCertificate(pool, false),
  ]
  await storeChoosing(pool, a, named)
  await storeChoosing(pool, a, named)
  await storeChoosing(pool, b, named)
  await storeChoosing(pool, b, 'default')
  await storeChoosing(pool, c, standard)
  await storeChoosing(pool, d, unused, true)
  await migrate(url, new Date())
  const clientsOf = new Map((await readCertificates(pool)).map((one) => [one.id, one.clients]))
  assert.deepEqual(clientsOf.get(named), [a, b])
  assert.deepEqual(clientsOf.get(standard), [b, c])
  assert.deepEqual(clientsOf.get(unused), [])
  // What the version before inserts while it still runs.
  const later = await storeCertificate(pool, false)
  const found = (await readCertificates(pool)).find(({ id }) => id === later)
  assert.deepEqual(found?.clients, [])
})

test('only endpoints of the clients that a certificate is for count as its users', async () => {
  const { pool } = await cloneDatabase()
  const [{ clientKey: own }, { clientKey: other }] = [
    await storeClient(pool),
    await storeClient(pool),
  ]
  const id = await storeCertificate(pool, true)
  for (const clientKey of [own, other]) {
    for (const choice of [id, 'default']) await storeChoosing(pool, clientKey, choice)
  }
  const usesFor = async (keys: number[], isForEveryone = false) => {
    await pool.query('update client_certificates set client_keys = $1, is_for_everyone = $2', [
      keys,
      isForEveryone,
    ])
    return (await countCertificateUses(pool)).get(id)
  }
  assert.equal(await usesFor([]), undefined)
  assert.equal(await usesFor([own]), 2)
  assert.equal(await usesFor([own, other]), 4)
  assert.equal(await usesFor([], true), 4)
  const choices = [id, 'default']
  assert.equal(await countChoices(pool, choices, { of: 'everyone' }), 4)
  assert.equal(await countChoices(pool, [id], { of: 'everyone', notOf: [own] }), 1)
  assert.equal(await countChoices(pool, choices, { of: [own, other], notOf: [other] }), 2)
  assert.equal(await countChoices(pool, choices, { of: [own], notOf: 'everyone' }), 0)
  assert.equal(await countChoices(pool, choices, { of: [] }), 0)
})
