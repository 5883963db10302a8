// `paybell cells` and `paybell clients move`, as an operator runs them. The move itself is in move-client.test.ts.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { cloneDatabase } from '../support/database.ts'

test('regression: cells are created once, with the keys of another that has signed none yet, and listed', async (t) => {
  const { url, pool } = await cloneDatabase()
  const env = {
    DATABASE_URL: url,
    PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYBELL_OPERATOR_KEY: randomBytes(32).toString('base64url'),
  }
  const run = async (...args: string[]) => {
    const ran = await callCommand(args, { env })
    return { ...ran, json: ran.stdout.startsWith('{') ? JSON.parse(ran.stdout) : null }
  }
  const made = await run('cells', 'create', '7', '--keys-from', '0', '--json')
  assert.equal(made.code, 0, made.stderr)
  assert.equal(made.json.keys, 1)
  assert.equal(made.json.isDistributed, false)
  assert.ok(made.json.applied.length > 10)
  const again = await run('cells', 'create', '7')
  assert.match(again.stdout, /Cell 7 is there already/)
  const keysOf = async (schema: string) =>
    (await pool.query(`select * from ${schema}.signing_keys`)).rows
  assert.equal((await keysOf('paybell_7')).length, 1)
  assert.deepEqual(await keysOf('paybell_7'), await keysOf('paybell'), 'and they can be trusted')
  const twice = await run('cells', 'create', '7', '--keys-from', '0')
  assert.match(twice.stdout, /It has the signing keys of cell 0 already/)
  const strangers = await callCommand(['cells', 'create', '7', '--keys-from', '0'], {
    env: { ...env, PAYBELL_MASTER_KEY: randomBytes(32).toString('base64') },
  })
  assert.notEqual(strangers.code, 0)
  assert.match(strangers.stderr, /master key [0-9a-f]{8} is not configured/)

  const listed = await run('cells', 'list', '--json')
  assert.deepEqual(
    listed.json.cells.map(({ cell, node, due }: Record<string, unknown>) => ({ cell, node, due })),
    [
      { cell: 0, node: null, due: 0 },
      { cell: 7, node: null, due: 0 },
    ],
  )
  assert.deepEqual(
    listed.json.cells.map(({ problem }: { problem: unknown }) => problem),
    [null, null],
  )
  const unmoved = await run('cells', 'move', '7', '--to', 'worker2:5432')
  assert.notEqual(unmoved.code, 0)
  assert.match(unmoved.stderr, /no Citus.*paybell clients move/)
  // The cell may be in another database.
  const other = await cloneDatabase()
  const file = join(await mkdtemp(join(tmpdir(), 'paybell-cells-')), 'database')
  t.after(() => rm(dirname(file), { recursive: true, force: true }))
  await writeFile(file, `${url}\n`)
  const apart = await callCommand(
    ['cells', 'create', '8', '--keys-from', '0', '--keys-database-file', file, '--json'],
    { env: { ...env, DATABASE_URL: other.url } },
  )
  assert.equal(JSON.parse(apart.stdout).keys, 1, apart.stderr)
  await writeFile(file, 'nothing')
  const nowhere = ['cells', 'create', '8', '--keys-from', '0', '--keys-database-file', file]
  assert.match((await run(...nowhere)).stderr, /holds no address/)
  const wrong = await run('cells', 'create', '1024')
  assert.notEqual(wrong.code, 0)
  const address = ['--address', 'https://cell7.example.com']
  // Its secret is under a master key that the other cell has not used.
  const client = randomUUID()
  await pool.query(
    `with made as (
       insert into clients (id, name, created_at) values ($1, 'Test', now()) returning client_key)
     insert into client_secrets (client_key, id, digest, master_key_id, created_at)
     select client_key, $1, sha256(''), 'aabbccdd/1', now() from made`,
    [client],
  )
  const sealed = await run('clients', 'move', client.toUpperCase(), '--to', '7', ...address)
  assert.match(sealed.stderr, /under master key aabbccdd, which the other cell has not used/)
  const unknown = await run('clients', 'move', randomUUID(), '--to', '7', ...address)
  assert.notEqual(unknown.code, 0)
  assert.match(unknown.stderr, /no client with this id/)
  const same = await run('clients', 'move', randomUUID(), '--to', '0', ...address)
  assert.match(same.stderr, /in this cell already/)
})

test('regression: a cell that cannot be asked is listed with why, and so are the others', async () => {
  const { url, pool } = await cloneDatabase()
  const env = {
    DATABASE_URL: url,
    PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYBELL_OPERATOR_KEY: randomBytes(32).toString('base64url'),
  }
  assert.equal((await callCommand(['cells', 'create', '7'], { env })).code, 0)
  // As before the migration that makes it.
  await pool.query('alter table paybell_7.pending_deliveries rename to of_another_version')
  const listed = await callCommand(['cells', 'list', '--json'], { env })
  assert.equal(listed.code, 0, listed.stderr)
  const [own, behind] = JSON.parse(listed.stdout).cells
  assert.deepEqual([own.cell, own.due, own.problem], [0, 0, null])
  assert.deepEqual([behind.cell, behind.due], [7, null])
  assert.match(behind.problem, /run paybell migrate/)
  const shown = await callCommand(['cells', 'list'], { env })
  assert.match(shown.stdout, /^7 .*this server \(not at this version: run paybell migrate/m)
})
