// A client moves from cell to cell under load: nothing is lost, doubled or out of order, its ids and its cursor stay
// good, and a move that breaks off leaves it where it was. It moves to another schema, to another database, and to a node
// of a cluster.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { schemaOfCell } from '../../server/core/network/cell.ts'
import { moveClient, undoMove } from '../../server/operations/clients/move-client.ts'
import { createClient, inTransaction } from '../../server/store/connection/db.ts'
import {
  type ClusterNode,
  distributeCell,
  moveCell,
  readNodeOfCell,
  readNodes,
} from '../../server/store/schema/cells.ts'
import { Caller, type SandboxFacts } from '../support/caller.ts'
import { openPool, type TestDatabase, testServerUrl } from '../support/database.ts'
import type { Owner } from '../support/owner.ts'
import { addClient, type Paybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  openCell,
  routeConfig,
  startRoute,
  startTwoCells,
  type TwoCells,
} from '../support/two-cells.ts'

const DRAIN_MS = 2_000

const CITUS = process.env.PAYBELL_TEST_CITUS_URL

type Place = 'a schema' | 'a database' | 'a node of a cluster'

/** In two schemas of one database; every test moves a client of its own. */
const cells = await startTwoCells({ after })

/** The cell that the client begins in, and the one that it moves to. */
async function startCells(t: Owner, place: Place): Promise<TwoCells> {
  if (place === 'a schema') return cells
  if (place === 'a database') return startTwoCells(t, { server: await testServerUrl() })
  const homes = [await openOnNode(t, 998, 0), await openOnNode(t, 7, 1)] as const
  return startTwoCells(t, { homes })
}

async function openOnNode(t: Owner, cell: number, node: number): Promise<TestDatabase> {
  const cluster = { url: CITUS as string } as TestDatabase
  const opened = await openCell(t, cluster, cell)
  after(async () => {
    const client = createClient(CITUS as string, 'paybell test')
    await client.connect()
    await client.query(`drop schema ${schemaOfCell(cell)} cascade`)
    await client.end()
  })
  // To hand a cell to the cluster takes longer than a statement of the service may.
  const pool = openPool(t, opened.url, 1, 120_000)
  await inTransaction(pool, distributeCell)
  const nodes = (await readNodes(pool)) ?? []
  const { host, port } = nodes[node % nodes.length] as ClusterNode
  if ((await readNodeOfCell(pool)) !== `${host}:${port}`) await moveCell(pool, { host, port })
  return opened
}

/** A client of the first cell, and its move to the other. */
async function addMover({ first, seventh, move }: TwoCells) {
  const facts = await addClient(first, 'Moves')
  return {
    facts,
    here: new Caller(facts),
    there: new Caller({ ...facts, baseUrl: seventh.baseUrl }),
    move: { ...move, clientId: facts.clientId, drainMs: 50 },
  }
}

/** Writes to whichever cell has the client now, as a producer does that follows a 308. */
class Producer {
  readonly accepted: { id: string; sequence: number }[] = []
  readonly #cells: readonly SandboxFacts[]
  readonly #sequences = new Map<string, number>()
  #at = 0
  refused = 0
  longestPauseMs = 0

  constructor(cells: readonly SandboxFacts[]) {
    this.#cells = cells
  }

  async write(id: string): Promise<void> {
    const number = (this.#sequences.get(id) ?? 0) + 1
    const body = sampleBody({ id, version: number, reference: `number ${number}` })
    const startedAt = performance.now()
    await until('the write is accepted', async () => {
      const answer = await put(this.#cells[this.#at] as SandboxFacts, id, body)
      if (answer.status === 308) this.#at = 1
      else if (answer.status === 503) this.refused++
      else if (answer.status <= 201) return true
      else assert.fail(`${answer.status} ${await answer.text()}`)
      return false
    })
    this.longestPauseMs = Math.max(this.longestPauseMs, performance.now() - startedAt)
    this.#sequences.set(id, number)
    this.accepted.push({ id, sequence: number })
  }
}

/** Without following a redirect: fetch would drop the key on the way. */
function put(cell: SandboxFacts, id: string, body: Uint8Array<ArrayBuffer>): Promise<Response> {
  return new Caller(cell).putPayment(id, body, { redirect: 'manual' })
}

const PLACES: readonly Place[] = ['a schema', 'a database', 'a node of a cluster']
for (const place of PLACES) {
  const skip =
    place !== 'a node of a cluster' || CITUS
      ? false
      : 'PAYBELL_TEST_CITUS_URL names no database with Citus'
  describe(`to ${place} of its own`, { skip }, () => {
    test('a client moves under load: 0 lost, 0 doubled, 0 out of order', async (t) => {
      const { first, seventh, ...rest } = await startCells(t, place)
      const { facts, here, there, move } = await addMover({ first, seventh, ...rest })
      const receiver = await startReceiver(t)
      await here.register(receiver.url(), 'a key')
      const stranger = await startReceiver(t)
      const other = new Caller(await addClient(first, 'Stays'))
      await other.register(stranger.url(), 'a key')

      const producer = new Producer([facts, { ...facts, baseUrl: seventh.baseUrl }])
      const payments = Array.from({ length: 4 }, () => randomUUID())
      const strangers: string[] = []
      let isOver = false
      const load = (async () => {
        for (let n = 0; !isOver; n++) {
          await producer.write(payments[n % payments.length] as string)
          const id = randomUUID()
          const { status } = await other.putSample(id)
          assert.equal(status, 201, 'a client that stays notices nothing')
          strangers.push(id)
        }
      })()
      const opened = openAccounts(facts, () => isOver)
      await until('deliveries flow', () => receiver.received.length > 10)
      const cursor = await readCursor(here, 5)

      const { rows, frozenMs } = await moveClient({ ...move, drainMs: DRAIN_MS })
      assert.ok(rows > 20)
      const before = producer.accepted.length
      await until('writes go on in the other cell', () => producer.accepted.length > before + 8)
      isOver = true
      await load
      const { ids, statuses } = await opened
      assert.deepEqual([...statuses].toSorted(), [201, 308, 503])
      const { rows: arrived } = await seventh.pool.query('select id from accounts')
      const accounts = new Set(arrived.map(({ id }) => id))
      assert.deepEqual(
        ids.filter((id) => !accounts.has(id)),
        [],
        'an account that was opened is there',
      )
      await until('all is delivered', () => receiver.received.length >= producer.accepted.length)
      await until('strangers too', () => stranger.received.length >= strangers.length)

      const seen = new Map<string, number[]>()
      for (const { headers, body } of receiver.received) {
        const id = JSON.parse(body.toString()).id as string
        seen.set(id, [...(seen.get(id) ?? []), Number(headers['x-paybell-sequence'])])
      }
      for (const id of payments) {
        const count = producer.accepted.filter((one) => one.id === id).length
        assert.deepEqual(
          seen.get(id),
          Array.from({ length: count }, (_, n) => n + 1),
          id,
        )
      }
      t.diagnostic(
        `${producer.accepted.length} written, ${producer.refused} refused, frozen ${frozenMs} ms, longest wait ${Math.round(producer.longestPauseMs)} ms`,
      )

      // What it had is there, under the same ids, and its cursor goes on.
      const answer = await fetch(`${first.baseUrl}/v1/events`, {
        headers: await here.headers(),
        redirect: 'manual',
      })
      assert.equal(answer.status, 308)
      assert.equal(answer.headers.get('location'), `${seventh.baseUrl}/v1/events`)
      assert.equal(answer.headers.get('x-paybell-cell'), '7')
      assert.equal(answer.headers.get('x-paybell-moved'), facts.clientId)
      const [id = ''] = payments
      const write = await put(facts, id, sampleBody({ id }))
      assert.deepEqual([write.status, write.headers.get('x-paybell-moved')], [308, facts.accountId])
      // Transactions of other test files on the same server hold the newest events back for a moment.
      await until('the feed has every event', async () => {
        const events = await readAll(there, cursor.next)
        assert.ok(cursor.items + events <= producer.accepted.length)
        return cursor.items + events === producer.accepted.length
      })
      const left = await first.pool.query(
        `select (select count(*) from pending_deliveries p join clients c using (client_key) where c.id = $1)
           + (select count(*) from events e join clients c using (client_key) where c.id = $1) as count`,
        [facts.clientId],
      )
      assert.deepEqual(left.rows, [{ count: 0 }])
    })
  })
}

/** Again and again, as an operator who takes no notice of the move. */
async function openAccounts(cell: SandboxFacts, isOver: () => boolean) {
  const ids: string[] = []
  const statuses = new Set<number>()
  while (!isOver()) {
    const answer = await fetch(`${cell.baseUrl}/operator/v1/clients/${cell.clientId}/accounts`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${cell.operatorKey}`,
        'content-type': 'application/json',
      },
      body: '{"name": "Another"}',
    })
    statuses.add(answer.status)
    const { id } = (await answer.json()) as { id?: string }
    if (answer.status === 201) ids.push(id as string)
    await delay(20)
  }
  return { ids, statuses }
}

async function readCursor(caller: Caller, limit: number): Promise<{ items: number; next: string }> {
  return until('the feed shows them', async () => {
    const answer = await caller.get(`/v1/events?limit=${limit}`)
    const { items, next } = (await answer.json()) as { items: unknown[]; next: string }
    return items.length === limit && { items: items.length, next }
  })
}

async function readAll(caller: Caller, after: string): Promise<number> {
  let total = 0
  for (let next = after; ; ) {
    const answer = await caller.get(`/v1/events?after=${next}`)
    const page = (await answer.json()) as { items: unknown[]; next: string }
    if (page.items.length === 0) return total
    total += page.items.length
    next = page.next
  }
}

describe('a move that breaks off', () => {
  test('is undone: the client goes on where it was, and nothing is in the other cell', async (t) => {
    const { facts, here, there, move } = await addMover(cells)
    const { pool } = cells.seventh
    const receiver = await startReceiver(t)
    await here.register(receiver.url(), 'a key')
    const notices = { callbackUrl: receiver.url('/notices'), sharedKey: 'a key of notices' }
    await here.call('PUT', '/v1/notices', notices)
    const id = randomUUID()
    await here.putSample(id)
    // The copy fails at its last table.
    await pool.query('alter table payments add constraint no_payments check (false) not valid')
    await assert.rejects(moveClient(move), /no_payments/)
    const count = 'select count(*) from clients where id = $1'
    assert.deepEqual((await pool.query(count, [facts.clientId])).rows, [{ count: 0 }])
    const answer = await until('it is accepted again', async () => {
      const again = await here.putSample(id, { version: 18, reference: 'x' })
      return again.status === 200 && again
    })
    assert.equal(answer.status, 200)
    await until('and delivered', () => receiver.received.length >= 2)
    await undoMove(move)

    // And it can be tried again, and completed where it was left off.
    await pool.query('alter table payments drop constraint no_payments')
    await moveClient(move)
    assert.deepEqual(await moveClient(move), { rows: 0, frozenMs: 0 })
    const shown = await there.get('/v1/notices')
    assert.equal(((await shown.json()) as typeof notices).callbackUrl, notices.callbackUrl)
    await assert.rejects(undoMove(move), /in the other cell already/)
  })

  test('regression: a client that has left can come back, with what it got elsewhere', async (t) => {
    const { here, there, move } = await addMover(cells)
    const receiver = await startReceiver(t)
    const [before, elsewhere] = [randomUUID(), randomUUID()]
    await here.register(receiver.url(), 'a key')
    await here.putSample(before)
    await moveClient(move)
    assert.equal((await there.putSample(elsewhere)).status, 201)
    const { sourceUrl: targetUrl, targetUrl: sourceUrl } = move
    const home = { toCell: 0, toAddress: cells.first.baseUrl, sourceUrl, targetUrl }
    await moveClient({ ...move, ...home })
    for (const id of [before, elsewhere]) {
      const answer = await until('it is accepted at home', async () => {
        const body = sampleBody({ id, version: 18, reference: 'back' })
        const given = await here.putPayment(id, body)
        return given.status === 200 && given
      })
      assert.equal(((await answer.json()) as { event: { sequence: number } }).event.sequence, 2)
    }
    await until('all is delivered', () => receiver.received.length >= 4)
  })

  test('a client that has left is listed where it is, and nowhere else', async () => {
    const { first, seventh } = cells
    const { facts, move } = await addMover(cells)
    await moveClient(move)
    const lists = async (cell: Paybell) => {
      const headers = { authorization: `Bearer ${cell.operatorKey}` }
      const answer = await fetch(`${cell.baseUrl}/operator/v1/clients`, { headers })
      const { content } = (await answer.json()) as { content: { clientId: string }[] }
      return content.some(({ clientId }) => clientId === facts.clientId)
    }
    assert.deepEqual([await lists(first), await lists(seventh)], [false, true])
  })

  test('a process that knows of no move is kept out by the database', async () => {
    const { facts, move } = await addMover(cells)
    const { pool } = cells.first
    await moveClient(move)
    await assert.rejects(
      pool.query('select record_payment($1, $2)', [facts.accountId, sampleBody().toString()]),
      (error: { code?: string }) => error.code === '55P03',
    )
  })
})

test('regression: a link that was sent before the move leads to the file after it, at the old cell and through a route', async (t) => {
  const { first, seventh, operatorKey } = cells
  const { here, there, move } = await addMover(cells)
  const config = routeConfig({ 0: first.baseUrl, 7: seventh.baseUrl }, operatorKey)
  const route = await startRoute(t, config)
  const receiver = await startReceiver(t)
  const callbackUrl = receiver.url()
  const settings = { callbackUrl, sharedKey: 'a key', document: 'link' }
  assert.equal((await here.call('POST', '/v1/webhooks/register', settings)).status, 200)
  const id = randomUUID()
  const document = {
    name: 'a.txt',
    mediaType: 'text/plain',
    base64EncodedFile: Buffer.from('the file').toString('base64'),
  }
  assert.equal((await here.putSample(id, { document })).status, 201)
  await until('the callback is there', () => receiver.received.length === 1)
  const { url } = JSON.parse(receiver.received[0]?.body.toString() ?? '').document as {
    url: string
  }
  const { pathname } = new URL(url)
  await moveClient(move)

  const sent = await fetch(url, { redirect: 'manual' })
  assert.deepEqual([sent.status, sent.headers.get('location')], [308, seventh.baseUrl + pathname])
  assert.equal(sent.headers.get('x-paybell-moved'), null)
  for (const link of [url, route.baseUrl + pathname]) {
    const answer = await fetch(link)
    assert.deepEqual([answer.status, await answer.text()], [200, 'the file'])
  }
  assert.equal((await fetch(`${url}x`)).status, 404)
  // Once the endpoint is deleted where it is now, that is what the link says.
  const [webhook] = await there.webhooks()
  assert.equal((await there.deleteWebhook(webhook?.id ?? assert.fail())).status, 204)
  for (const link of [url, route.baseUrl + pathname]) assert.equal((await fetch(link)).status, 410)
})
