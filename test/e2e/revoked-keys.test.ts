// After a webhook key was revoked: what it has signed is called neither genuine nor forged, the audit stays proven by what
// follows, and a person finds the id of the key that is to be revoked.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { verifyReceipt } from '../../sdk/src/index.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { callCommand } from '../support/called-command.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeDataDir } from '../support/sandbox.ts'
import { nothingIsHeldBack } from '../support/sealed-audit.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const dir = await makeDataDir({ after })
const KEYS = '/.well-known/webhook-keys.json'
const env = {
  PAYBELL_URL: paybell.baseUrl,
  PAYBELL_OPERATOR_KEY: paybell.operatorKey,
  PAYBELL_DATA_DIR: dir,
  XDG_CONFIG_HOME: dir,
}

const run = (...args: string[]) => callCommand(args, { env })

async function published() {
  const answer = await fetch(paybell.baseUrl + KEYS)
  return (await answer.json()) as {
    keys: { kid: string; x: string }[]
    retired: { kid: string; x: string }[]
    revoked: { kid: string; revokedAt: string }[]
  }
}

async function seal() {
  await nothingIsHeldBack(paybell.pool)
  await until('all is sealed', async () => {
    await sealAudit(paybell.app.deps, { everyMsMin: 0 })
    const { rows } = await paybell.pool.query(
      'select from audit where place >= coalesce((select max(to_place) from audit_segments), 1) limit 1',
    )
    return rows.length === 0
  })
}

async function makeReceipt(): Promise<string> {
  const { caller } = paybell
  await caller.addWebhook(receiver.url(), 'a shared key of some length')
  const id = randomUUID()
  assert.equal((await caller.putPayment(id, sampleBody({ id, version: undefined }))).status, 201)
  const delivery = await until('it is delivered', async () => {
    const answer = await caller.get(`/v1/deliveries?paymentId=${id}&state=DELIVERED`)
    return ((await answer.json()) as { items: { id: string }[] }).items[0]
  })
  const { code, stdout, stderr } = await run('receipt', 'get', delivery.id)
  assert.equal(code, 0, stderr)
  return stdout
}

test('regression: after a revocation a receipt cannot be verified, and the audit stays valid', async () => {
  const file = (name: string) => join(dir, name)
  const receipt = await makeReceipt()
  await writeFile(file('receipt.jws'), receipt)
  await writeFile(file('keys.json'), JSON.stringify(await published()))
  await run('clients', 'create', 'Someone')
  await seal()
  assert.equal((await run('audit', 'verify')).code, 0)
  await writeFile(file('before.ndjson'), (await run('audit', 'export')).stdout)

  const before = await run('webhook-keys', 'list')
  assert.equal(before.code, 0, before.stderr)
  const [, kid = ''] = /^KEY.*\n([0-9a-f-]{36}) +signs +-\s*$/.exec(before.stdout) ?? []
  assert.equal((await published()).keys[0]?.kid, kid)
  assert.equal((await run('webhook-keys', 'revoke', kid, '--yes')).code, 0)
  const { keys, retired, revoked } = await published()
  assert.ok(![...keys, ...retired].some((key) => key.kid === kid))
  assert.deepEqual(
    revoked.map((key) => Object.keys(key)),
    [['kid', 'revokedAt']],
  )
  const [{ revokedAt } = assert.fail()] = revoked
  const listed = await run('webhook-keys', 'list')
  assert.match(listed.stdout, new RegExp(`${kid} +revoked +${revokedAt.slice(0, 10)}`))

  const refused = await run('receipt', 'verify', file('receipt.jws'))
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, new RegExp(`cannot be verified\\..*${kid}, which was revoked at`))
  assert.doesNotMatch(refused.stdout, /genuine/)
  const json = await run('receipt', 'verify', file('receipt.jws'), '--json')
  assert.partialDeepStrictEqual(JSON.parse(json.stdout), { genuine: null, code: 'key-revoked' })
  await assert.rejects(verifyReceipt(receipt, await published()), { code: 'key-revoked' })
  // Who has saved the keys before the leak may judge for himself.
  const pinned = await run('receipt', 'verify', file('receipt.jws'), '--keys', file('keys.json'))
  assert.equal(pinned.code, 0, pinned.stdout)
  // One that names a key that never was is no receipt of this service.
  const [head = '', body, signature] = receipt.trim().split('.')
  const header = JSON.parse(Buffer.from(head, 'base64url').toString())
  const other = Buffer.from(JSON.stringify({ ...header, kid: randomUUID() })).toString('base64url')
  const forged = verifyReceipt(`${other}.${body}.${signature}`, await published())
  await assert.rejects(forged, { code: 'not-genuine' })

  // The act of revoking is sealed by the new key within a minute.
  await seal()
  const audit = await run('audit', 'verify')
  assert.equal(audit.code, 0, audit.stdout)
  assert.match(audit.stdout, new RegExp(`Note: Segments? 1.* revoked: ${kid}`))
  const old = await run('audit', 'verify', file('before.ndjson'))
  assert.equal(old.code, 1)
  assert.match(old.stdout, /^key-revoked: .*no later segment under another key proves it/)
  const direct = await paybell.caller.operate('POST', '/audit/verify', {})
  assert.partialDeepStrictEqual(await direct.json(), { verdict: 'valid', finding: null })
})

test('the keys of tokens are listed, too', async () => {
  const { code, stdout } = await run('signing-keys', 'list')
  assert.equal(code, 0)
  assert.match(stdout, /^KEY +STATUS.*\n[0-9a-f-]{36} +trusted +-\s*$/)
})
