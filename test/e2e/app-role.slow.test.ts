// Two roles, as docs/operator.md describes: one owns the schema and migrates, the other serves. The service
// does all its work, its daily upkeep too, and cannot touch a row of the audit.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { uuidAt } from '../../server/core/plain/uuid.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { watchClosedDays } from '../../server/store/removal/closed-days.ts'
import { dropOldHistory } from '../../server/store/removal/retention.ts'
import { grantToAppRole } from '../../server/store/schema/app-role.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { forgetAudit } from '../../server/upkeep/forget-audit.ts'
import { testServerUrl } from '../support/database.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeRoles } from '../support/roles.ts'
import { onServer } from '../support/test-server.ts'

test('the service works under a role that can add to the audit and never change it', async (t) => {
  const roles = await makeRoles()
  await migrate(roles.ownerUrl, new Date())
  await grantToAppRole(roles.ownerUrl, roles.app)
  await grantToAppRole(roles.ownerUrl, roles.app)
  // As `serve` does at every start.
  assert.deepEqual(await migrate(roles.appUrl, new Date()), [])

  const pool = createPool({
    url: roles.appUrl,
    connectionsMax: 4,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, {
    database: { url: roles.appUrl, pool, drop: async () => {} },
  })
  // Registered after the hook of startPaybell: first the service stops, then its database is dropped.
  t.after(() => pool.end())
  t.after(roles.drop)
  await paybell.caller.register(receiver.url(), 'key')
  const id = await paybell.caller.pay()
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)

  // An entry that came before its month's partition moves into it, with the guard on before and after.
  const ahead = new Date(Date.now() + 100 * DAY_MS)
  const early = uuidAt(ahead.getTime(), 1, randomBytes(8))
  await pool.query(
    `insert into audit (id, at, actor, action, object, request_id)
     values ($1, $2, 'early', 'client.create', 'client:1', $1)`,
    [early, ahead],
  )
  // Partitions are made ahead and dropped by the service: also those that the owner made.
  const { left, moved } = await ensurePartitions(pool, ahead)
  assert.deepEqual([left, moved.map(({ rows }) => rows)], [[], [1]])
  // It watches days that are over, and notes one that gets an event all the same.
  assert.deepEqual(await watchClosedDays(pool, new Date(Date.now() + 2 * DAY_MS)), [])
  const late = randomUUID()
  assert.equal((await paybell.caller.putSample(late)).status, 201, 'an event in a day that is over')
  assert.equal((await pool.query('select from late_days')).rowCount, 1)
  const dropped = await dropOldHistory(pool, new Date(Date.now() + 300 * DAY_MS), 1)
  assert.ok(dropped.partitions.length > 20, `${dropped.partitions.length} were dropped`)

  const rows = () =>
    pool.query(`select actor, action, object from audit where actor <> 'early' order by id`)
  const expected = [id, late].map((one) => ({
    actor: 'operator',
    action: 'payment.put',
    object: `payment:${one}`,
  }))
  assert.deepEqual((await rows()).rows, expected)
  const partition = `audit_${new Date().toISOString().slice(0, 7).replace('-', '_')}_01`
  for (const statement of [
    `update audit set actor = 'somebody else'`,
    'delete from audit',
    'truncate audit',
    `update ${partition} set actor = 'somebody else'`,
    `delete from ${partition}`,
    `truncate ${partition}`,
    `drop table ${partition}`,
    'drop table audit',
    `delete from ${moved[0]?.partition}`,
    'delete from audit_default',
    'delete from migration_hashes',
    `update migration_hashes set hash = ''`,
    `alter table audit detach partition ${partition}`,
    'alter table audit disable trigger audit_is_append_only',
    'drop trigger audit_is_append_only on audit',
    `create or replace function refuse_audit_change() returns trigger language sql as 'select null'`,
    'drop schema paybell cascade',
    `set role ${roles.owner}`,
    'grant update on audit to current_user',
  ]) {
    const failure = await pool.query(statement).then(
      // A grant of what one does not have is a warning and changes nothing.
      () => (statement.startsWith('grant') ? { code: '42501' } : null),
      (error: { code?: string }) => error,
    )
    assert.equal(failure?.code, '42501', statement)
  }
  assert.deepEqual((await rows()).rows, expected)

  // Old months are for the owner to drop: the service says which, and how.
  const inAYear = { nowMs: () => Date.now() + 400 * DAY_MS, monotonicMs: () => 0 }
  const config = { paymentRetentionDays: null, auditRetentionDays: 30, cell: 0 }
  const { deps } = paybell.app
  const newId = () => uuidAt(inAYear.nowMs(), 1, randomBytes(8))
  const forget = () => forgetAudit({ ...deps, pool, clock: inAYear, config, newId })
  // A row waits to be sealed for as long as any transaction on the server is older: the next round has it.
  const { dropped: months, remark } = await until('it may seal and drop', async () => {
    await sealAudit(deps, { everyMsMin: 0 })
    const forgotten = await forget()
    return !forgotten.isLeft && forgotten
  })
  assert.deepEqual(months, [])
  assert.match(
    remark ?? '',
    new RegExp(`may not drop them: run "drop table .*paybell.${partition}`),
  )
  await onServer(roles.ownerUrl, (client) => client.query(/"(.*)"/.exec(remark ?? '')?.[1] ?? ''))
  assert.equal((await forget()).remark, null)
  assert.deepEqual(
    (await rows()).rows.map(({ action }) => action),
    ['audit.drop'],
    'all but what says that they went',
  )
})

test('regression: a role that only records payments can call nothing that acts on the audit', async (t) => {
  const roles = await makeRoles()
  t.after(roles.drop)
  await migrate(roles.ownerUrl, new Date())
  await grantToAppRole(roles.ownerUrl, roles.app)
  await onServer(roles.ownerUrl, async (client) => {
    // What is granted to every role reaches one that has nothing but the use of the schema.
    const { rows } = await client.query(
      `select p.proname from pg_proc p,
         aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as granted
       where p.pronamespace = 'paybell'::regnamespace and p.prosecdef and granted.grantee = 0`,
    )
    assert.deepEqual(rows, [])
  })
})

test('an older schema fails with a sentence when the role may not change it', async (t) => {
  const roles = await makeRoles()
  t.after(roles.drop)
  await migrate(roles.ownerUrl, new Date())
  await grantToAppRole(roles.ownerUrl, roles.app)
  await onServer(roles.ownerUrl, (client) =>
    client.query(`delete from paybell.migrations where name = '0004_keys_and_audit'`),
  )
  await assert.rejects(migrate(roles.appUrl, new Date()), /run "paybell migrate" as the role/)
})

test('a role that is missing, a superuser or the owner itself is refused', async (t) => {
  const roles = await makeRoles()
  t.after(roles.drop)
  await migrate(roles.ownerUrl, new Date())
  await assert.rejects(grantToAppRole(roles.ownerUrl, 'nobody_here'), /no role of this name/)
  await assert.rejects(grantToAppRole(roles.ownerUrl, roles.owner), /owns the audit/)
  const superuser = new URL(roles.ownerUrl)
  const admin = new URL(await testServerUrl())
  superuser.username = admin.username
  superuser.password = admin.password
  await assert.rejects(grantToAppRole(superuser.href, admin.username), /superuser/)
})
