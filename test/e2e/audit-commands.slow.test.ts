// `paybell audit …` against a running service, a file and the database.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { toAudit } from '../../server/operations/shared/audit-trail.ts'
import { callCommand } from '../support/called-command.ts'
import { startPaybell, until } from '../support/paybell.ts'

test('an auditor saves a head, exports and verifies; what is altered is named', async (t) => {
  const paybell = await startPaybell(t)
  const { deps } = paybell.app
  const dir = await mkdtemp(join(tmpdir(), 'paybell-audit-'))
  t.after(() => rm(dir, { recursive: true }))
  const { key } = await createOperatorKey(deps, { name: 'ada', role: 'auditor' })
  const trail = { operator: { actor: 'operator', role: 'admin' as const }, requestId: deps.newId() }
  for (const name of ['One', 'Two', 'line\u2028sep']) {
    await onboardClient(deps, name, toAudit(deps, trail, 'client.create'))
  }
  const env = { PAYBELL_URL: paybell.baseUrl, PAYBELL_OPERATOR_KEY: key }
  await until('it is sealed', async () => {
    await sealAudit(deps, { everyMsMin: 0 })
    const { rows } = await paybell.pool.query('select sum(count)::int as sum from audit_segments')
    return rows[0].sum >= 3
  })
  const head = await callCommand(['audit', 'head', '--json'], { env })
  const file = (name: string) => join(dir, name)
  writeFileSync(file('head.json'), head.stdout)
  const exported = await callCommand(['audit', 'export'], { env })
  writeFileSync(file('audit.ndjson'), exported.stdout)
  const keys = await fetch(`${paybell.baseUrl}/.well-known/webhook-keys.json`)
  writeFileSync(file('keys.json'), await keys.text())

  const kept = ['--keys', file('keys.json'), '--head', file('head.json')]
  const live = await callCommand(['audit', 'verify', ...kept], { env })
  assert.match(
    live.stdout,
    /^valid: all \d+ rows in \d+ segments? \(1 to \d+\) are as they were sealed/,
  )
  // A file needs neither a service nor a key.
  const offline = await callCommand(['audit', 'verify', file('audit.ndjson'), ...kept])
  assert.equal(offline.code, 0, offline.stderr)
  const database = { DATABASE_URL: paybell.database.url }
  const direct = await callCommand(['audit', 'verify'], { env: database })
  assert.match(direct.stdout, /as they were sealed/, direct.stderr)
  // The audit of another cell, which is not there.
  const elsewhere = await callCommand(['audit', 'verify'], {
    env: { ...database, PAYBELL_CELL: '7' },
  })
  assert.equal(elsewhere.code, 1, elsewhere.stdout)

  const lineOfTwo = exported.stdout.split('\n').find((line) => line.includes('"after":"Two"'))
  const { id: idOfTwo } = JSON.parse(lineOfTwo ?? '{}')
  const altered = readFileSync(file('audit.ndjson'), 'utf8').replace('"after":"Two"', '"after":"x"')
  writeFileSync(file('altered.ndjson'), altered)
  const found = await callCommand(['audit', 'verify', file('altered.ndjson'), ...kept])
  assert.equal(found.code, 1)
  // Which row of its segment it is depends on when the service itself has sealed.
  assert.match(found.stdout, new RegExp(`^row-changed: Row ${idOfTwo}, row \\d+ of `))
  const cut = altered.split('\n').slice(0, 1).join('\n')
  writeFileSync(file('cut.ndjson'), cut)
  const missing = await callCommand(['audit', 'verify', file('cut.ndjson'), ...kept])
  assert.equal(missing.code, 1)
  assert.match(missing.stdout, /^row-added: Row .* stands after the last segment/)
  const guards = `alter table audit disable trigger user; ${await guardsOf(paybell.pool)}`
  await paybell.pool.query(`${guards}; delete from audit where actor = 'operator'`)
  const gone = await callCommand(['audit', 'verify', '--database', '--json'], { env: database })
  assert.equal(gone.code, 1)
  assert.equal(JSON.parse(gone.stdout).verdict, 'invalid')
})

async function guardsOf(pool: { query(sql: string): Promise<{ rows: { name: string }[] }> }) {
  const { rows } = await pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass`,
  )
  return rows.map(({ name }) => `alter table ${name} disable trigger user`).join(';')
}
