// Attacks on cells and the route before them: callers who show what is not theirs, a client that has moved and what is left
// of it, and a cell that someone has broken into. Two real cells, 0 and 7, and a dishonest one, 9.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { CellEntry } from '../../server/core/network/cell-directory.ts'
import { moveClient } from '../../server/operations/clients/move-client.ts'
import { Caller, type SandboxFacts } from '../support/caller.ts'
import { type FakeAnswer, forgedToken, startFakeCell } from '../support/fake-cells.ts'
import { moveUnderLoad } from '../support/move-under-load.ts'
import { addClient, type Paybell, until } from '../support/paybell.ts'
import { routeConfig, startRoute, startTwoCells } from '../support/two-cells.ts'

const t = { after }
const cells = await startTwoCells(t)
const { first, seventh, operatorKey } = cells
const IDS = Array.from(
  { length: 9_999 },
  (_, n) => `019a8f6e-1c2d-7a3b-9000-${n.toString(16).padStart(12, '0')}`,
)

let claims: Partial<CellEntry> = {}
let ninthSays: FakeAnswer = { status: 200, body: { access_token: 'stolen' } }
const ninth = await startFakeCell(
  t,
  () => ninthSays,
  () => ({
    version: 1,
    cell: 9,
    address: 'https://nine.example',
    stampedSince: '2025-06-01T00:00:00.000Z',
    clients: [],
    accounts: [],
    moved: [],
    issuedAt: new Date().toISOString(),
    keptMs: 0,
    ...claims,
  }),
)
const route = await startRoute(
  t,
  routeConfig({ 0: first.baseUrl, 7: seventh.baseUrl, 9: ninth.baseUrl }, operatorKey),
)
const at = (facts: SandboxFacts): SandboxFacts => ({
  ...facts,
  baseUrl: route.baseUrl,
  operatorKey,
})

interface Attack {
  to: { baseUrl: string }
  path?: string
  headers?: Readonly<Record<string, string>>
  /** A login. */
  login?: { clientId: string; clientSecret: string }
}

async function attack({ to, path = '/v1/webhooks', headers = {}, login }: Attack) {
  const init =
    login === undefined
      ? { headers }
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(login),
        }
  const target = login === undefined ? path : '/auth/token'
  return fetch(to.baseUrl + target, { redirect: 'manual', ...init })
}

const bearer = async (facts: SandboxFacts) => ({
  authorization: `Bearer ${await new Caller(facts).token()}`,
})
const WRONG = 'x'.repeat(43)

describe('callers who show what is not theirs', () => {
  const cases: Readonly<Record<string, () => Promise<[Attack, number]>>> = {
    'a token of another cell, at a cell that has the same keys': async () => [
      { to: first, headers: await bearer(seventh) },
      401,
    ],
    'a token, with another cell named': async () => [
      { to: route, headers: { ...(await bearer(first)), 'x-paybell-cell': '7' } },
      401,
    ],
    'a token that no one has signed, with the id of a client': async () => [
      { to: route, headers: { authorization: forgedToken(first.clientId) } },
      401,
    ],
    'the headers of a 308, on a request': async () => [
      {
        to: route,
        headers: { ...(await bearer(first)), 'x-paybell-moved': seventh.clientId },
      },
      200,
    ],
    'the directory, with the token of a client': async () => [
      { to: route, path: '/operator/v1/cells', headers: await bearer(first) },
      401,
    ],
    'the directory, without a key': async () => [{ to: route, path: '/operator/v1/cells' }, 401],
    'a wrong secret': async () => [
      { to: route, login: { clientId: first.clientId, clientSecret: WRONG } },
      401,
    ],
    'the secret of a client of another cell': async () => [
      { to: route, login: { clientId: first.clientId, clientSecret: seventh.clientSecret } },
      401,
    ],
    'a right secret, with another cell named': async () => [
      {
        to: route,
        login: { clientId: first.clientId, clientSecret: first.clientSecret },
        headers: { 'x-paybell-cell': '7' },
      },
      401,
    ],
  }
  for (const [name, of] of Object.entries(cases)) {
    test(name, async () => {
      const [attempt, status] = await of()
      assert.equal((await attack(attempt)).status, status)
      // And no one else is sent elsewhere after it.
      for (const cell of [first, seventh]) {
        const answer = await attack({ to: route, headers: await bearer(at(cell)) })
        assert.equal(answer.status, 200)
      }
    })
  }
})

describe('a client that has moved', async () => {
  const facts = await addClient(first, 'Moves')
  const { clientId, clientSecret } = facts
  const token = await bearer(facts)
  await moveClient({ ...cells.move, clientId, drainMs: 50 })
  const cases: Readonly<Record<string, [Attack, number]>> = {
    'its old token, through the route': [{ to: route, headers: token }, 200],
    'its old token, at the new cell': [{ to: seventh, headers: token }, 200],
    'its old token, at the old cell': [{ to: first, headers: token }, 308],
    'its secret, through the route': [{ to: route, login: { clientId, clientSecret } }, 200],
    'a wrong secret, through the route': [
      { to: route, login: { clientId, clientSecret: WRONG } },
      401,
    ],
    // Ids are no secrets: the old cell has nothing to compare a secret with (docs/scaling.md).
    'a wrong secret, at the old cell': [
      { to: first, login: { clientId, clientSecret: WRONG } },
      308,
    ],
  }
  for (const [name, [attempt, status]] of Object.entries(cases)) {
    test(name, async () => {
      const answer = await attack(attempt)
      assert.equal(answer.status, status)
      // Only one who has proven to be the client is named to a route.
      const isProven = status === 308 && attempt.headers !== undefined
      assert.equal(answer.headers.get('x-paybell-moved'), isProven ? clientId : null)
    })
  }
})

/** Waits until the route has read what cell 9 says, and asks as the client does. */
async function logInBeside(facts: SandboxFacts): Promise<number> {
  await until('the route knows what cell 9 says', async () => {
    const answer = await fetch(`${route.baseUrl}/operator/v1/cells`, {
      headers: { authorization: `Bearer ${operatorKey}`, 'x-paybell-cell': '0' },
    })
    const { items } = (await answer.json()) as { items: { cell: number; entry: string | null }[] }
    const entry = items.find(({ cell }) => cell === 9)?.entry?.split('.')[1] ?? ''
    const said = JSON.parse(Buffer.from(entry, 'base64url').toString() || '{}') as CellEntry
    const { clients = [], moved = [] } = claims
    return JSON.stringify([said.clients, said.moved]) === JSON.stringify([clients, moved])
  })
  const { clientId, clientSecret } = facts
  const answer = await attack({ to: route, login: { clientId, clientSecret } })
  return answer.status
}

/** What a dishonest cell got to see of others' clients. */
const stolen = () =>
  ninth.received.filter(({ path, body }) => path === '/auth/token' || body.includes('Secret'))

describe('a cell that someone has broken into', () => {
  const victims: readonly Paybell[] = [first, seventh]
  const ids = () => [...victims.map(({ clientId }) => clientId), ...IDS.slice(2)]
  const accounts = () => victims.map(({ accountId }) => accountId)
  const cases: Readonly<Record<string, () => Partial<CellEntry>>> = {
    'claims clients and accounts of all cells, 10,000 in all': () => ({
      clients: ids(),
      accounts: accounts(),
    }),
    'claims them with a time ahead of all others': () => ({
      clients: ids(),
      issuedAt: new Date(Date.now() + 60_000).toISOString(),
    }),
    'says that they have left it for itself': () => ({
      moved: [{ cell: 9, clients: ids(), accounts: accounts() }],
    }),
    'says that they have left it for another': () => ({
      moved: [{ cell: 7, clients: ids(), accounts: accounts() }],
    }),
  }
  for (const [name, of] of Object.entries(cases)) {
    test(name, async () => {
      claims = of()
      for (const victim of victims) {
        assert.equal(await logInBeside(victim), 200)
        const answer = await attack({ to: route, headers: await bearer(at(victim)) })
        assert.equal(answer.status, 200)
      }
      assert.deepEqual(stolen(), [])
    })
  }

  test('says in a 308 where clients of others are', async () => {
    claims = {}
    for (const victim of victims) {
      const elsewhere = victim === first ? '7' : '0'
      ninthSays = {
        status: 308,
        headers: { 'x-paybell-cell': elsewhere, 'x-paybell-moved': victim.clientId },
      }
      await attack({ to: route, headers: { 'x-paybell-cell': '9' } })
    }
    for (const victim of victims) assert.equal(await logInBeside(victim), 200)
    assert.deepEqual(stolen(), [])
  })

  test('gives an entry with more than there is room for: it is refused, and the rest goes on', async () => {
    claims = { clients: [...ids(), ...IDS.slice(0, 2)] }
    await until('cell 9 is away', async () => {
      const answer = await fetch(`${route.baseUrl}/readyz`)
      return ((await answer.json()) as { cellsAway: number[] }).cellsAway.includes(9)
    })
    for (const victim of victims) {
      const { clientId, clientSecret } = victim
      const answer = await attack({ to: route, login: { clientId, clientSecret } })
      assert.equal(answer.status, 200)
    }
    assert.deepEqual(stolen(), [])
    claims = {}
  })
})

test('a client moves under writes through the route: 0 lost, 0 doubled, 0 out of order', async (owner) => {
  const facts = await addClient(first, 'Moves under load')
  const told = await moveUnderLoad(owner, {
    facts: at(facts),
    move: () => moveClient({ ...cells.move, clientId: facts.clientId }),
  })
  owner.diagnostic(told)
})
