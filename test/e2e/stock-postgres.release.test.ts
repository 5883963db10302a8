// A PostgreSQL as it comes out of its package, with a month of partitions: what its planner makes of
// every statement that the service sends it. Plans are looked at, never the time that they take.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { Pool } from 'pg'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { listFaults } from '../plans/rules.ts'
import { explainStore } from '../plans/states.ts'
import { cloneDatabase } from '../support/database.ts'
import { findInstalledPostgres, startInstalledPostgres } from '../support/installed-postgres.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeTemplate, onServer } from '../support/test-server.ts'

const BIN = findInstalledPostgres(15)
const DAYS = 30

/** What PostgreSQL adds to a plan for each node that a session does not allow and it cannot do without. */
const NOT_ALLOWED = 1e10
/** A plan that reads a whole table of any size costs more. */
const COST_MAX = 1e6

interface Statement {
  text: string
  values: unknown[]
}

interface Plan {
  Plan: { 'Total Cost': number }
  JIT?: object
}

/** Every statement that goes through the pool from now on, each text once. */
function recordStatements(pool: Pool): Map<string, Statement> {
  const statements = new Map<string, Statement>()
  const note = (config: string | Partial<Statement>, values?: unknown) => {
    const text = typeof config === 'string' ? config : (config.text ?? '')
    const given = typeof config === 'string' ? values : (config.values ?? values)
    statements.set(text, { text, values: Array.isArray(given) ? given : [] })
  }
  const watch = (target: { query: unknown }) => {
    const query = (target.query as (...args: unknown[]) => unknown).bind(target)
    target.query = (...args: unknown[]) => {
      note(args[0] as string, args[1])
      return query(...args)
    }
  }
  watch(pool)
  const clients = new WeakSet<object>()
  pool.on('acquire', (client) => {
    if (clients.has(client)) return
    clients.add(client)
    watch(client)
  })
  return statements
}

const skip = BIN ? false : 'PostgreSQL 15 is not installed here'
const stock = BIN ? await startInstalledPostgres(BIN) : null
if (stock) await makeTemplate(stock.url)
// After the databases of this file, which are dropped in a hook of their own.
after(() => stock?.stop())

test('no plan of the hot path reads more than what it was asked for on a stock PostgreSQL', {
  skip,
}, async () => {
  const server = stock?.url ?? assert.fail()
  const { statements } = await explainStore({ server, isHotOnly: true })
  assert.ok(statements.length > 10, `${statements.length} statements were looked at`)
  const faults = statements.flatMap((statement) =>
    listFaults(statement).map((fault) => `${statement.name}: ${fault}`),
  )
  assert.deepEqual(faults, [])
})

test('regression: on a stock PostgreSQL with 30 days of partitions no statement is compiled', {
  skip,
}, async (t) => {
  const server = stock ?? assert.fail()
  const database = await cloneDatabase({ server: server.url })
  for (let day = 0; day <= DAYS; day++) {
    await ensurePartitions(database.pool, new Date(Date.now() - day * DAY_MS))
  }
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { database })
  // Registered after startPaybell's hook: first the service stops, then its database.
  t.after(() => database.drop())
  const statements = recordStatements(paybell.app.deps.pool)
  await paybell.caller.register(receiver.url(), 'key')
  const id = randomUUID()
  assert.equal((await paybell.caller.putSample(id, { version: undefined })).status, 201)
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const operator = { headers: { authorization: `Bearer ${paybell.operatorKey}` } }
  for (const path of [
    '/v1/events',
    '/v1/deliveries',
    '/v1/deliveries?state=PENDING',
    `/v1/deliveries?paymentId=${id}`,
  ]) {
    assert.equal((await paybell.caller.get(path)).status, 200, path)
  }
  for (const path of [
    '/operator/v1/deliveries',
    '/operator/v1/deliveries?state=PENDING',
    '/operator/v1/deliveries?from=2020-01-01T00:00:00Z',
    '/operator/v1/payments',
    '/operator/v1/stats',
    '/metrics',
    '/readyz',
  ]) {
    assert.equal((await fetch(paybell.baseUrl + path, operator)).status, 200, path)
  }
  await until('the leases are renewed', () =>
    [...statements.keys()].some((text) => /update leases/.test(text)),
  )

  // The server's own default, which the service's sessions override.
  assert.deepEqual(
    await onServer(server.url, (client) => client.query('show jit')).then(({ rows }) => rows),
    [{ jit: 'on' }],
  )
  const plans = await explainAll(paybell.app.deps.pool, [...statements.values()])
  assert.ok(plans.length > 40, `${plans.length} statements were looked at`)
  const compiled = plans.filter(({ isCompiled }) => isCompiled)
  assert.deepEqual(compiled, [])
  const dear = plans.filter(({ cost }) => cost > COST_MAX)
  assert.deepEqual(dear, [])
})

async function explainAll(pool: Pool, statements: readonly Statement[]) {
  const plans: { cost: number; isCompiled: boolean; text: string }[] = []
  for (const { text, values } of statements) {
    if (!/^\s*(select|with|insert|update|delete)/i.test(text)) continue
    const { rows } = await pool.query(`explain (format json) ${text}`, values)
    const [plan] = rows[0]['QUERY PLAN'] as Plan[]
    plans.push({
      cost: (plan?.Plan['Total Cost'] ?? 0) % NOT_ALLOWED,
      isCompiled: plan?.JIT !== undefined,
      text,
    })
  }
  return plans
}
