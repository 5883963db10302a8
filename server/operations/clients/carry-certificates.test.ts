// A client's endpoints are shown the same certificates after a move as before it, whatever their ids are there.

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import { openCell } from '../../../test/support/two-cells.ts'
import { type CertificateClients, EVERYONE } from '../../core/certificates/certificate-clients.ts'
import { insertCertificate, readCertificates } from '../../store/secrets/client-certificates.ts'
import { moveClient } from './move-client.ts'

const first = await cloneDatabase()
const seventh = await openCell({ after }, first, 7)
// The other cell has used the master key of what is stored here.
await storeEndpoint(seventh.pool, (await storeClient(seventh.pool)).clientKey)

beforeEach(async () => {
  for (const { pool } of [first, seventh]) await pool.query('delete from client_certificates')
})

/** The same `chain` has the same fingerprint. */
async function storeCertificate(
  pool: Pool,
  chain: string,
  of: { id?: string; isDefault?: boolean; clients?: CertificateClients } = {},
): Promise<string> {
  const id = of.id ?? randomUUID()
  await insertCertificate(pool, {
    id,
    name: `named ${chain}`,
    subject: 'CN=paybell',
    sealedPrivateKey: Buffer.from('sealed'),
    requestPem: null,
    chain: {
      pem: chain,
      fingerprint: createHash('sha256').update(chain).digest(),
      notBefore: new Date('2026-01-01'),
      notAfter: new Date('2027-01-01'),
    },
    isDefault: of.isDefault ?? false,
    clients: of.clients ?? EVERYONE,
    createdAt: new Date('2026-01-01'),
  })
  return id
}

async function storeMovable(choices: readonly string[], clientKey?: number) {
  clientKey ??= (await storeClient(first.pool)).clientKey
  const endpoints: string[] = []
  for (const choice of choices) {
    const { endpointId } = await storeEndpoint(first.pool, clientKey)
    await first.pool.query('update endpoints set client_certificate = $2 where id = $1', [
      endpointId,
      choice,
    ])
    endpoints.push(endpointId)
  }
  const { rows } = await first.pool.query('select id from clients where client_key = $1', [
    clientKey,
  ])
  const clientId: string = rows[0].id
  const move = () =>
    moveClient({
      ...{ clientId, toCell: 7, toAddress: 'https://seven.example' },
      ...{ sourceUrl: first.url, targetUrl: seventh.url },
      ...{ drainMs: 10, knownMs: 10, waitMsMax: 60_000 },
    })
  const shownThere = async () => {
    const found = await seventh.pool.query<{ id: string; client_certificate: string }>(
      'select id, client_certificate from endpoints where id = any($1)',
      [endpoints],
    )
    const byId = new Map(found.rows.map((row) => [row.id, row.client_certificate]))
    return endpoints.map((id) => byId.get(id))
  }
  const hasBegun = async () => {
    const begun = await first.pool.query('select from client_moves where client_id = $1', [
      clientId,
    ])
    return begun.rowCount === 1
  }
  return { move, shownThere, hasBegun, clientId }
}

test('endpoints name the same certificates by the ids of the other cell', async () => {
  const [a, b] = [randomUUID(), randomUUID()]
  await storeCertificate(first.pool, 'pix', { id: a })
  await storeCertificate(first.pool, 'sepa', { id: b, isDefault: true })
  // The ids are each other's there, and one more is beside them.
  await storeCertificate(seventh.pool, 'sepa', { id: a, isDefault: true })
  await storeCertificate(seventh.pool, 'pix', { id: b })
  await storeCertificate(seventh.pool, 'another')
  const { move, shownThere } = await storeMovable([a, b, 'default'])
  await move()
  assert.deepEqual(await shownThere(), [b, a, 'default'])
})

test('a certificate that the other cell does not have stops the move before it begins', async () => {
  const id = await storeCertificate(first.pool, 'pix')
  await storeCertificate(seventh.pool, 'another', { id })
  const { move, hasBegun, shownThere } = await storeMovable([id])
  await assert.rejects(move(), /does not have \("named pix"\): import them there with their keys/)
  assert.equal(await hasBegun(), false)
  const there = await storeCertificate(seventh.pool, 'pix')
  await move()
  assert.deepEqual(await shownThere(), [there])
})

test('a default that is another one, or none, in the other cell stops the move', async () => {
  await storeCertificate(first.pool, 'pix', { isDefault: true })
  const { move, hasBegun, shownThere } = await storeMovable(['default'])
  await assert.rejects(move(), /"named pix" here and another one, or none/)
  await storeCertificate(seventh.pool, 'another', { isDefault: true })
  await storeCertificate(seventh.pool, 'pix')
  await assert.rejects(move(), /make it the default there/)
  assert.equal(await hasBegun(), false)
  await seventh.pool.query(`update client_certificates set is_default = false`)
  await seventh.pool.query(
    `update client_certificates set is_default = true where chain_pem = 'pix'`,
  )
  await move()
  assert.deepEqual(await shownThere(), ['default'])
})

test('a client without certificates is moved whatever the cells have', async () => {
  await storeCertificate(first.pool, 'pix', { isDefault: true })
  const { move, shownThere } = await storeMovable([])
  await move()
  assert.deepEqual(await shownThere(), [])
})

async function clientsOf(pool: Pool, id: string): Promise<CertificateClients | undefined> {
  return (await readCertificates(pool)).find((one) => one.id === id)?.clients
}

test('what the client may use here, it may use there; what others have stays theirs; and here it has nothing any more', async () => {
  const [{ clientKey }, { clientKey: other }] = [
    await storeClient(first.pool),
    await storeClient(first.pool),
  ]
  const of = { clients: [clientKey, other] }
  const used = await storeCertificate(first.pool, 'pix', of)
  const unused = await storeCertificate(first.pool, 'sepa', of)
  await storeCertificate(first.pool, 'only here', of)
  await storeCertificate(first.pool, 'not its own', { clients: [other] })
  const there = {
    used: await storeCertificate(seventh.pool, 'pix', { clients: [] }),
    unused: await storeCertificate(seventh.pool, 'sepa', { clients: [] }),
    open: await storeCertificate(seventh.pool, 'open', { clients: EVERYONE }),
    others: await storeCertificate(seventh.pool, 'not its own', { clients: [] }),
  }
  const { move, shownThere, clientId } = await storeMovable([used], clientKey)
  await move()
  assert.deepEqual(await shownThere(), [there.used])
  const { rows } = await seventh.pool.query('select client_key from clients where id = $1', [
    clientId,
  ])
  const arrived = [rows[0].client_key]
  assert.deepEqual(await clientsOf(seventh.pool, there.used), arrived)
  assert.deepEqual(await clientsOf(seventh.pool, there.unused), arrived)
  assert.deepEqual(await clientsOf(seventh.pool, there.others), [])
  assert.deepEqual(await clientsOf(seventh.pool, there.open), EVERYONE)
  for (const id of [used, unused]) assert.deepEqual(await clientsOf(first.pool, id), [other])
})

test('a certificate that the client may not use is no reason to refuse a move, and is not given to it there', async () => {
  const id = await storeCertificate(first.pool, 'pix', { clients: [] })
  const there = await storeCertificate(seventh.pool, 'pix', { clients: [] })
  const { move } = await storeMovable([id])
  await move()
  assert.deepEqual(await clientsOf(seventh.pool, there), [])
})
