import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryResult } from 'pg'
import { idOf, nextTick } from '../../../test/support/engine-parts.ts'
import type { Db } from '../../store/connection/db.ts'
import { AccountDirectory } from './account-directory.ts'

/** An array of uuids as it goes to PostgreSQL: 20 bytes of head, then a length of 4 and 16 bytes for each. */
function idsOf(array: Buffer): string[] {
  const ids: string[] = []
  for (let at = 24; at < array.length; at += 20) {
    const hex = array.toString('hex', at, at + 16)
    ids.push(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
  }
  return ids
}

/** Accounts 0 … count - 1, of clients with the same numbers; notes what was asked for. */
function accountsUpTo(count: number) {
  const asked: (readonly string[])[] = []
  const known = new Map(Array.from({ length: count }, (_, n) => [idOf(n), n]))
  const db = {
    async query(config: { values: [Buffer] }) {
      const ids = idsOf(config.values[0])
      asked.push(ids)
      const rows = ids.flatMap((id) => {
        const clientKey = known.get(id)
        return clientKey === undefined ? [] : [{ id, client_key: clientKey }]
      })
      // What is read is what holds when the question arrives; the answer takes its time.
      await nextTick()
      return { rows } as unknown as QueryResult
    },
  } as unknown as Db
  return { directory: new AccountDirectory(db), asked, known }
}

test('what was found once is not asked for again', async () => {
  const { directory, asked } = accountsUpTo(3)
  assert.equal(await directory.findOne(idOf(1)), 1)
  assert.equal(await directory.findOne(idOf(1)), 1)
  const found = await directory.find([idOf(1), idOf(2)])
  assert.equal(found.get(idOf(1)), 1)
  assert.equal(found.get(idOf(2)), 2)
  assert.deepEqual(asked, [[idOf(1)], [idOf(2)]])
  assert.deepEqual([directory.findKnown(idOf(2)), directory.findKnown(idOf(0))], [2, undefined])
})

test('an account that does not exist is asked for again: it may have been opened since', async () => {
  const { directory, known } = accountsUpTo(1)
  assert.equal((await directory.find([idOf(5)])).has(idOf(5)), false)
  known.set(idOf(5), 5)
  assert.equal((await directory.find([idOf(5)])).get(idOf(5)), 5)
})

test('an account that was opened while another caller asks is found', async () => {
  const { directory, known, asked } = accountsUpTo(1)
  const early = directory.findOne(idOf(5))
  await Promise.resolve()
  assert.equal(asked.length, 1, 'under way')
  known.set(idOf(5), 5)
  assert.deepEqual([await directory.findOne(idOf(5)), await early], [5, null])
})

test('callers that ask for one account together share a statement', async () => {
  const { directory, asked } = accountsUpTo(3)
  assert.deepEqual(await Promise.all([1, 1, 1].map((n) => directory.findOne(idOf(n)))), [1, 1, 1])
  assert.deepEqual(asked, [[idOf(1)]])
})

const MANY = 100_000

test('regression: an account stays found for its caller when the directory overflows', async () => {
  const { directory } = accountsUpTo(MANY + 2)
  const first = await directory.find(Array.from({ length: MANY }, (_, n) => idOf(n)))
  const second = await directory.find([idOf(7), idOf(MANY + 1)])
  assert.equal(second.get(idOf(MANY + 1)), MANY + 1)
  assert.equal(second.get(idOf(7)), 7, 'known before, emptied by this very call')
  assert.equal(first.get(idOf(3)), 3, 'emptied by another call')
})
