// Lists of accounts: their pages, and how many there are when they are too many to be counted for each page.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { AccountLists } from './view-accounts.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)

test('more than are counted each time are counted again after half a minute; their pages are of now', async () => {
  const { clientId } = await onboard(server)
  let opened = 0
  const open = () =>
    pool.query(
      `insert into accounts (client_key, id, name, created_at)
       select client_key, gen_random_uuid(), $2, now() from clients where id = $1`,
      [clientId, `Account ${++opened}`],
    )
  await open()
  await open()
  let monotonicMs = 0
  const clock = { ...server.deps.clock, monotonicMs: () => monotonicMs, nowMs: () => Date.now() }
  const deps = { ...server.deps, clock }
  const [few, many] = [new AccountLists(deps, 3), new AccountLists(deps, 2)]
  const look = async (lists: AccountLists) => {
    const pages = []
    for (const number of [0, 1, 2]) pages.push(await lists.view(clientId, { number, size: 2 }))
    const names = pages.flatMap(({ items }) => items.map(({ name }) => name)).slice(1)
    return [names.join(), ...pages.map(({ total }) => total)]
  }
  const two = 'Account 1,Account 2'
  for (const lists of [few, many]) assert.deepEqual(await look(lists), [two, 3, 3, 3])
  await open()
  const three = `${two},Account 3`
  assert.deepEqual(await look(few), [three, 4, 4, 4])
  assert.deepEqual(await look(many), [three, 3, 3, 3])
  monotonicMs = 30_000
  assert.deepEqual(await look(many), [three, 4, 4, 4])
})
