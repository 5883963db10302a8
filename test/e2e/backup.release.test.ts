// The steps of docs/backup.md, as they stand there, on a PostgreSQL 15 that is under way: a dump, and a base backup
// with the log, restored to a moment. On both a service is started, and what happened to everything is looked at.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { HOUR_MS, hourStartMs } from '../../server/core/proofs/statement.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { toAudit } from '../../server/operations/shared/audit-trail.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { Caller } from '../support/caller.ts'
import { runCommand } from '../support/command-line.ts'
import type { TestDatabase } from '../support/database.ts'
import {
  asUser,
  makeFolder,
  startInstalledPostgres,
  startOnData,
} from '../support/installed-postgres.ts'
import { type Paybell, SHORT_LEASES, startPaybell, until } from '../support/paybell.ts'
import { PLAIN } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { databaseUrl, onServer, type TestServer } from '../support/test-server.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const TOOLS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'pg_basebackup', 'pg_verifybackup']
const isInstalled = TOOLS.every((name) => existsSync(join(BIN, name)))
const PAGE = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8')
const BLOCKS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text as string)
const [DUMP, RESTORE_DUMP, BASE_BACKUP, RESTORE_MOMENT] = BLOCKS as [string, string, string, string]

const DATABASE = 'paybell'
const KEPT = 6
const LOST = 2

/** In the folder of the backups, as the user who runs PostgreSQL. */
async function shell(folder: string, script: string, env: Record<string, string>): Promise<void> {
  await promisify(execFile)('bash', ['-c', `set -euo pipefail\n${script}`], {
    ...asUser,
    cwd: folder,
    env: { PATH: `${BIN}:${process.env.PATH}`, ...env },
  })
}

function openDatabase(server: TestServer): TestDatabase {
  const url = databaseUrl(server.url, DATABASE)
  const pool = createPool({
    url,
    connectionsMax: 4,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  return { url, pool, drop: () => pool.end() }
}

function put(caller: Caller, id: string): Promise<Response> {
  return caller.putSample(id, PLAIN)
}

interface FeedPage {
  items: { paymentId: string }[]
  next: string
}

async function readFeed(caller: Caller, after: string | null): Promise<FeedPage> {
  const query = after === null ? '' : `?after=${encodeURIComponent(after)}`
  return (await (await caller.get(`/v1/events${query}`)).json()) as FeedPage
}

const statementPath = (endpointId: string) => {
  const from = hourStartMs(Date.now()) - HOUR_MS
  const at = (ms: number) => new Date(ms).toISOString()
  return `/v1/webhooks/${endpointId}/statement?from=${at(from)}&to=${at(from + 2 * HOUR_MS)}`
}

/** What the world outside remembers of the time before. */
interface Remembered {
  masterKey: Buffer
  client: { clientId: string; clientSecret: string; accountId: string }
  operatorKey: string
  token: string
  kept: readonly string[]
  lost: readonly string[]
  cursor: string
  webhookKeys: string
  goodId: string
  /** The webhook-id of each payment at the good endpoint. */
  webhookIds: ReadonlyMap<string, string>
  headFile: string
}

test('a dump and a base backup with its log bring everything back, and say what they cannot', {
  skip: isInstalled ? false : 'the programs of PostgreSQL 15 are not installed here',
  timeout: 600_000,
}, async (t) => {
  assert.equal(BLOCKS.length, 4, 'each block of docs/backup.md is run here')
  const folder = makeFolder()
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'wal'))
  chmodSync(join(folder, 'wal'), 0o777)
  const command = /^archive_command = '(.*)'$/m.exec(PAGE)?.[1] as string
  const primary = await startInstalledPostgres(BIN, {
    archive_mode: 'on',
    archive_command: command.replaceAll('/backup/wal', join(folder, 'wal')),
  })
  const receiver = await startReceiver(t)
  receiver.answer = ({ path }) => (path === '/good' ? 200 : 503)

  const { remembered, moment } = await liveAndLose(t, primary, receiver, folder)

  const dumped = await startInstalledPostgres(BIN)
  await onServer(dumped.url, (db) => db.query(`create database ${DATABASE}`))
  const env = { NEW_DATABASE_URL: databaseUrl(dumped.url, DATABASE), MOMENT: moment }
  await shell(folder, RESTORE_DUMP, env)
  await lookAfter(t, 'the dump', dumped, receiver, remembered)

  await shell(folder, RESTORE_MOMENT, env)
  const home = makeFolder()
  renameSync(join(folder, 'restored'), join(home, 'data'))
  const restored = await startOnData(BIN, home)
  await until('the log has been read', () =>
    onServer(restored.url, async (db) => {
      const { rows } = await db.query('select pg_is_in_recovery() as is_recovering')
      return !rows[0].is_recovering
    }),
  )
  await lookAfter(t, 'the moment', restored, receiver, remembered)
})

/** The service at work; the backups are taken while it runs. What comes after them is lost with the server. */
async function liveAndLose(
  t: TestContext,
  primary: TestServer,
  receiver: Receiver,
  folder: string,
): Promise<{ remembered: Remembered; moment: string }> {
  await onServer(primary.url, (db) => db.query(`create database ${DATABASE}`))
  const database = openDatabase(primary)
  await migrate(database.url, new Date())
  const paybell = await startPaybell(t, { database, leasePolicy: SHORT_LEASES })
  const { caller } = paybell
  await caller.register(receiver.url('/good'), 'key')
  await caller.register(receiver.url('/bad'), 'key')
  const [kept, lost] = [KEPT, LOST].map((count) =>
    Array.from({ length: count }, () => randomUUID()),
  ) as [string[], string[]]
  const arrived = (count: number) =>
    receiver.hasSeen(({ accepted }) => accepted.length === count, 60_000)

  const env = { DATABASE_URL: database.url }
  for (const id of kept.slice(0, KEPT / 2)) assert.equal((await put(caller, id)).status, 201)
  await arrived(KEPT / 2)
  await shell(folder, BASE_BACKUP, env)
  for (const id of kept.slice(KEPT / 2)) assert.equal((await put(caller, id)).status, 201)
  await arrived(KEPT)
  await sealAll(paybell, 'Kept')
  await until('what was accepted is recorded', async () => {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from final_deliveries where state = 'DELIVERED'`,
    )
    return rows[0].count === KEPT
  })
  await shell(folder, DUMP, env)
  const { rows } = await database.pool.query<{ moment: string }>(
    `select clock_timestamp()::text as moment`,
  )

  for (const id of lost) assert.equal((await put(caller, id)).status, 201)
  await arrived(KEPT + LOST)
  await sealAll(paybell, 'Lost')
  const headFile = join(folder, 'head.json')
  const head = await runCommand(t, ['audit', 'head', '--json'], {
    env: { PAYBELL_URL: paybell.baseUrl, PAYBELL_OPERATOR_KEY: paybell.operatorKey },
  })
  await promisify(execFile)('bash', ['-c', `cat > ${headFile} <<'END'\n${head.stdout}\nEND`])
  const feed = await until('the feed has all', async () => {
    const page = await readFeed(caller, null)
    return page.items.length === KEPT + LOST && page
  })
  const content = await caller.webhooks()
  const good = content.find(({ endpointUrl }) => endpointUrl.endsWith('/good'))
  const remembered: Remembered = {
    masterKey: paybell.masterKey,
    client: {
      clientId: paybell.clientId,
      clientSecret: paybell.clientSecret,
      accountId: paybell.accountId,
    },
    operatorKey: paybell.operatorKey,
    token: await caller.token(),
    kept,
    lost,
    cursor: feed.next,
    webhookKeys: await (await fetch(`${paybell.baseUrl}/.well-known/webhook-keys.json`)).text(),
    goodId: good?.id as string,
    webhookIds: idsOf(receiver, '/good'),
    headFile,
  }
  await archiveAll(database)
  // A crash: the process gives nothing back, and the server is gone with all that was not archived.
  await paybell.stop()
  await database.drop()
  await primary.stop()
  return { remembered, moment: rows[0]?.moment as string }
}

async function archiveAll({ pool }: TestDatabase): Promise<void> {
  const { rows } = await pool.query<{ file: string }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as file',
  )
  await pool.query('select pg_switch_wal()')
  await until('the log is archived', async () => {
    const archived = await pool.query('select last_archived_wal as file from pg_stat_archiver')
    return archived.rows[0].file >= (rows[0]?.file as string)
  })
}

/** Something that is audited, in a segment. */
async function sealAll({ app }: Paybell, name: string): Promise<void> {
  const { deps } = app
  const trail = { operator: { actor: 'operator', role: 'admin' as const }, requestId: deps.newId() }
  await onboardClient(deps, name, toAudit(deps, trail, 'client.create'))
  await until('it is sealed', async () => {
    await sealAudit(deps, { everyMsMin: 0 })
    const { rows } = await deps.pool.query(
      `select from audit where place >= (select max(to_place) from audit_segments) limit 1`,
    )
    return rows.length === 0
  })
}

function idsOf(receiver: Receiver, path: string): ReadonlyMap<string, string> {
  return new Map(
    receiver.received
      .filter((one) => one.path === path)
      .map(({ headers, body }) => [
        (JSON.parse(body.toString()) as { id: string }).id,
        String(headers['webhook-id']),
      ]),
  )
}

/** The service on what was restored. */
async function lookAfter(
  t: TestContext,
  what: string,
  server: TestServer,
  receiver: Receiver,
  before: Remembered,
): Promise<void> {
  const database = openDatabase(server)
  try {
    const seen = receiver.received.length
    const paybell = await startPaybell(t, {
      database,
      leasePolicy: SHORT_LEASES,
      masterKey: before.masterKey,
    })
    const { baseUrl } = paybell
    const caller = new Caller({
      ...before.client,
      baseUrl,
      operatorKey: paybell.operatorKey,
    })
    const since = (path: string) =>
      receiver.received.slice(seen).filter((one) => one.path === path && one.status === 200)

    // Tokens, secrets and keys.
    const authorization = `Bearer ${before.token}`
    const old = await fetch(`${baseUrl}/v1/webhooks`, { headers: { authorization } })
    assert.equal(old.status, 200, `${what}: a token of before`)
    assert.equal((await caller.get('/v1/webhooks/list')).status, 200, `${what}: the secret`)
    const keys = await fetch(`${baseUrl}/.well-known/webhook-keys.json`)
    assert.equal(await keys.text(), before.webhookKeys, `${what}: webhook keys`)

    // What was owed is made, under the ids that it had; the lease of the dead process is no obstacle.
    receiver.answer = 200
    await paybell.pool.query(
      'update pending_deliveries set next_attempt_at = now() where next_attempt_at is not null',
    )
    await receiver.hasSeen(() => since('/bad').length >= KEPT, 60_000)
    const badIds = new Set(since('/bad').map(({ headers }) => headers['webhook-id']))
    assert.deepEqual(badIds, new Set(before.kept.map((id) => before.webhookIds.get(id))))

    // What was fed later is gone, and comes in again as something new.
    for (const id of before.kept) assert.equal((await put(caller, id)).status, 200)
    for (const id of before.lost) {
      assert.equal((await caller.get(`/v1/payments/${id}`)).status, 404, `${what}: ${id}`)
      assert.equal((await put(caller, id)).status, 201)
    }
    await receiver.hasSeen(() => since('/good').length >= LOST, 60_000)
    for (const id of before.lost) {
      assert.notEqual(idsOf(receiver, '/good').get(id), before.webhookIds.get(id))
    }

    // A reader that was ahead goes on, misses nothing and sees nothing twice.
    const page = await until(`${what}: the feed goes on`, async () => {
      const found = await readFeed(caller, before.cursor)
      return found.items.length >= LOST && found
    })
    assert.deepEqual(page.items.map(({ paymentId }) => paymentId).sort(), [...before.lost].sort())

    // Statements count what is there, signed by a key that was kept.
    const statement = await until(`${what}: all is recorded`, async () => {
      const answer = await caller.get(statementPath(before.goodId))
      const stated = (await answer.json()) as { owed: number; delivered: number; jws: string }
      return stated.delivered === KEPT + LOST && stated
    })
    assert.equal(statement.owed, KEPT + LOST)
    const [header] = statement.jws.split('.') as [string]
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
    assert.ok(before.webhookKeys.includes(kid))

    // The audit is whole as far as it goes, and goes on; a head of later tells that it was cut.
    await sealAll(paybell, 'After the restore')
    const asks = { env: { DATABASE_URL: database.url } }
    const whole = await runCommand(t, ['audit', 'verify', '--database'], asks)
    assert.equal(whole.code, 0, whole.stdout + whole.stderr)
    const kept = ['audit', 'verify', '--database', '--head', before.headFile]
    const cut = await runCommand(t, kept, asks)
    assert.match(cut.stdout, /^head-(missing|changed)|^segment-/, cut.stdout + cut.stderr)
    assert.equal(cut.code, 1)
    receiver.answer = ({ path }) => (path === '/good' ? 200 : 503)
    await paybell.stop()
    await assertWrongKeyIsNamed(t, database)
  } finally {
    await database.drop()
    await server.stop()
  }
}

/** It serves what it can, and says what is missing. */
async function assertWrongKeyIsNamed(t: TestContext, database: TestDatabase): Promise<void> {
  const stranger = await startPaybell(t, {
    database,
    leasePolicy: SHORT_LEASES,
    masterKey: randomBytes(32),
    env: { PAYBELL_LOG_LEVEL: 'silent' },
  })
  const answer = await until('it is not ready', async () => {
    const asked = await fetch(`${stranger.baseUrl}/readyz`)
    return asked.status === 503 && (await asked.text())
  })
  assert.match(answer, /Master key/)
  await stranger.stop()
}
