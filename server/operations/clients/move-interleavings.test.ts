// Every way in which a move, an undo, a second run and crashes can follow each other, between all steps, on two real
// schemas: after each of them writes are accepted in one cell at most, nothing that was accepted is lost, the endpoint is
// active in one cell at most, and the fence stands while it must and no longer. In the end all of the client is in one cell.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { sized } from '../../../test/support/size.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { openCell } from '../../../test/support/two-cells.ts'
import { hasLeft, type MoveState } from '../../core/network/client-move.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { findClientMove } from '../../store/moves/client-moves.ts'
import { type Ends, onBothEnds } from '../../store/moves/move-ends.ts'
import { findRefusedClient, lowerFence } from '../../store/moves/move-fence.ts'
import { hasArrived } from '../../store/moves/move-rows.ts'
import { MoveRun, moveClient, undoMove } from './move-client.ts'

const STEPS = ['begin', 'drain', 'fence', 'copy', 'hand over', 'remove'] as const

type Act = 'undo' | { run: number; finally: 'crash' | 'end' }

/** What follows each other: a run that takes some steps and dies, and what is started after it. */
function* allStories(): Generator<readonly Act[]> {
  for (let first = 0; first <= STEPS.length; first++) {
    const begun: Act = { run: first, finally: 'crash' }
    yield [begun, 'undo']
    yield [begun, { run: STEPS.length, finally: 'end' }]
    for (let second = 1; second <= STEPS.length - first; second++) {
      yield [begun, { run: second, finally: 'crash' }, 'undo']
      yield [begun, 'undo', { run: second, finally: 'crash' }, 'undo']
      yield [begun, { run: second, finally: 'crash' }, { run: STEPS.length, finally: 'end' }]
    }
  }
}

const STORIES = [...allStories()]
/** In the normal run those where a copy is there, or is not, and the source does not know. */
const stories = sized(
  STORIES.filter(([first, ...rest]) => rest.length === 1 && isBesideCopy(first)),
  STORIES,
)

function isBesideCopy(act: Act | undefined): boolean {
  return typeof act === 'object' && (act.run === 3 || act.run === 4)
}

const zero = await cloneDatabase()
const seven = await openCell({ after }, zero, 7)
// Both have used the master key of what is stored here.
for (const { pool } of [zero, seven]) {
  await storeEndpoint(pool, (await storeClient(pool)).clientKey)
}
type Cell = typeof zero

class Story {
  readonly #accepted: string[] = []
  clientId = ''
  accountId = ''
  endpointId = ''

  async begin(): Promise<void> {
    const { clientKey, accountId } = await storeClient(zero.pool)
    const { rows } = await zero.pool.query('select id from clients where client_key = $1', [
      clientKey,
    ])
    this.clientId = rows[0].id
    this.accountId = accountId
    this.endpointId = (await storeEndpoint(zero.pool, clientKey)).endpointId
  }

  get options() {
    return {
      clientId: this.clientId,
      toCell: 7,
      toAddress: 'https://seven.example',
      sourceUrl: zero.url,
      targetUrl: seven.url,
      drainMs: 0,
      knownMs: 0,
      waitMsMax: 60_000,
    }
  }

  async act(act: Act): Promise<void> {
    if (act === 'undo') {
      await undoMove(this.options).catch((error: Error) =>
        assert.match(error.message, /in the other cell already/),
      )
    } else await this.run(act.run, act.finally)
    await this.check()
  }

  /** Between the steps of a run no other one, and no undo, gets in. */
  async run(steps: number, end: 'crash' | 'end'): Promise<void> {
    const run = new MoveRun(this.options)
    await onBothEnds(this.options, async (ends) => {
      for (let taken = 0; taken < steps && (await run.step(ends)) !== 'done'; taken++) {
        await this.check()
        const before = await this.states(ends)
        const late = { ...this.options, waitMsMax: 0 }
        await assert.rejects(undoMove(late), /another run/)
        await assert.rejects(moveClient(late), /another run/)
        assert.deepEqual(await this.states(ends), before)
      }
      if (end === 'end') await run.walk(ends)
      // The process dies, and the server finds out.
      else for (const { db } of [ends.source, ends.target]) db.connection.stream.destroy()
    })
  }

  async states({ source, target }: Ends) {
    const move = await findClientMove(source.db, this.clientId)
    return [move?.state ?? null, await hasArrived(target.db, this.clientId)]
  }

  /** As a process that knows of no move: the payment, and what its endpoints are owed, in one transaction. */
  async write({ pool }: Cell): Promise<boolean> {
    const { rows } = await pool.query<{ client_key: number }>(
      'select client_key from accounts where id = $1',
      [this.accountId],
    )
    const clientKey = rows[0]?.client_key
    if (clientKey === undefined) return false
    const id = randomUUID()
    try {
      await inTransaction(pool, async (db) => {
        const { rows: endpoints } = await db.query<{ id: string; shard: number }>(
          'select id, shard from endpoints where client_key = $1',
          [clientKey],
        )
        await db.query(
          `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
           values ($1, $2, $3, 1, '{}', now(), now())`,
          [clientKey, id, this.accountId],
        )
        assert.equal(endpoints.length, 1, 'what is accepted is owed to the endpoint')
        const [endpoint] = endpoints as [{ id: string; shard: number }]
        const owed = { clientKey, endpointId: endpoint.id, shard: endpoint.shard }
        await storePending(db as never, owed, { payment_id: id })
      })
    } catch (error) {
      if (findRefusedClient(error) !== clientKey) throw error
      return false
    }
    this.#accepted.push(id)
    return true
  }

  async check(): Promise<void> {
    const wrote = [await this.write(zero), await this.write(seven)]
    const state = (await findClientMove(zero.pool, this.clientId))?.state ?? null
    const isThere = await hasArrived(seven.pool, this.clientId)
    assert.ok(!(wrote[0] && wrote[1]), 'accepted in one cell at most')
    assert.equal(wrote[1], isThere)
    assert.equal(wrote[0], state === null || state === 'DRAINING' || state === 'CLOSING')
    const active = [await this.isActive(zero), await this.isActive(seven)]
    assert.deepEqual(active, [state === null, isThere], 'sent from one cell at most')
    assert.deepEqual(await readFences(zero), fencesOf(state))
    assert.deepEqual(await readFences(seven), [false, false])
    // Until its rows are removed they are in both.
    const owed = [await this.owed(zero), await this.owed(seven)]
    const home = state !== null && hasLeft(state) ? owed[1] : owed[isThere ? 1 : 0]
    assert.deepEqual(home, this.#accepted.toSorted(), 'what was accepted is owed where it is sent')
  }

  async isActive({ pool }: Cell): Promise<boolean> {
    const { rows } = await pool.query('select status from endpoints where id = $1', [
      this.endpointId,
    ])
    return rows[0]?.status === 'ACTIVE'
  }

  async owed({ pool }: Cell): Promise<readonly string[]> {
    const { rows } = await pool.query<{ id: string }>(
      `select p.id from payments p join pending_deliveries d on d.payment_id = p.id
         and d.client_key = p.client_key
       where p.account_id = $1 order by p.id`,
      [this.accountId],
    )
    return rows.map(({ id }) => id)
  }

  /** However it went, it can be moved, all of it, and back again. */
  async end(): Promise<void> {
    await moveClient(this.options)
    await this.check()
    const left = await zero.pool.query('select from payments where account_id = $1', [
      this.accountId,
    ])
    assert.equal(left.rowCount, 0)
    const { sourceUrl: targetUrl, targetUrl: sourceUrl } = this.options
    await moveClient({ ...this.options, toCell: 0, sourceUrl, targetUrl })
    assert.deepEqual(await this.owed(zero), this.#accepted.toSorted())
    assert.deepEqual([await this.isActive(zero), await this.isActive(seven)], [true, false])
    assert.deepEqual(await this.owed(seven), [])
  }
}

/** The next story begins with cells that no client has left, however this one went. */
async function forgetMoves(): Promise<void> {
  for (const { pool } of [zero, seven]) {
    await pool.query('delete from client_moves')
    await inTransaction(pool, lowerFence)
  }
}

function fencesOf(state: MoveState | null): readonly [boolean, boolean] {
  const isCopied = state === 'COPYING' || state === 'MOVED'
  return [isCopied || state === 'REMOVED', isCopied]
}

/** Whether the fence stands for what lasts, and for acts. */
async function readFences({ pool }: Cell): Promise<readonly boolean[]> {
  const { rows } = await pool.query<{ is_up: boolean }>(
    `select tgenabled <> 'D' as is_up from pg_trigger
     where tgname = 'moving_clients' and tgrelid in ('payments'::regclass, 'pending_deliveries'::regclass)
     order by tgrelid::regclass::text`,
  )
  return rows.map((row) => row.is_up)
}

function nameOf(story: readonly Act[]): string {
  return story
    .map((act) => (act === 'undo' ? act : `${act.run} steps and ${act.finally}`))
    .join(', then ')
}

test('there are as many stories as there are places to break a move off', () => {
  assert.equal(STORIES.length, 14 + 3 * 21)
  assert.equal(stories.length, sized(4, STORIES.length))
})

for (const told of stories) {
  test(`a move is whole after: ${nameOf(told)}`, async () => {
    const story = new Story()
    try {
      await story.begin()
      await story.check()
      for (const act of told) await story.act(act)
      await story.end()
    } finally {
      await forgetMoves()
    }
  })
}
