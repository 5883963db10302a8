import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CellDirectory } from '../core/network/cell-directory.ts'
import { destinationOf, type ShownRequest } from './destination.ts'

const IN_ZERO = '019a8f6e-1c2d-7a3b-9000-5e6f70819204'
const IN_SEVEN = '019a8f6e-1c2d-7a3b-8007-5e6f70819204'
const MOVED = '019a8f6e-1c2d-7a3b-9000-aaaaaaaaaaaa'
const UUID4 = '5bd8b9c4-7a34-4d4e-8007-7d9f5c2f3c11'

const directory = new CellDirectory(
  [0, 7],
  [
    {
      version: 1,
      cell: 0,
      address: 'https://cell0.example.com',
      stampedSince: '2025-06-01T00:00:00.000Z',
      clients: [],
      accounts: [],
      moved: [{ cell: 7, clients: [MOVED], accounts: [MOVED] }],
      issuedAt: '2026-11-16T12:00:00.000Z',
      keptMs: 1_000,
    },
  ],
)

function ask(method: string, address: string, more: Partial<ShownRequest> = {}) {
  const [path = '', query = ''] = address.split('?')
  const shown = {
    method,
    path,
    query: new URLSearchParams(query),
    clientId: null,
    accountId: null,
    named: null,
    sessions: [],
    ...more,
  }
  return destinationOf(shown, directory)
}

test('a request of a client goes to the cell of its token', () => {
  const toSeven = { to: 'cell', cell: 7 }
  assert.deepEqual(ask('GET', '/v1/webhooks', { clientId: IN_SEVEN }), toSeven)
  assert.deepEqual(ask('POST', '/api/v1/payments/subscribe', { clientId: MOVED }), toSeven)
  assert.deepEqual(ask('GET', '/v1/events', { clientId: IN_ZERO }), { to: 'cell', cell: 0 })
  assert.deepEqual(ask('GET', '/v1/events'), { to: 'any' })
  assert.deepEqual(ask('GET', '/v1/events', { sessions: [7] }), toSeven)
})

test('the keys that banks trust for a client are those of its cell', () => {
  const path = (id: string) => `/.well-known/clients/${id}/jwks.json`
  assert.deepEqual(ask('GET', path(MOVED)), { to: 'cell', cell: 7 })
  assert.deepEqual(ask('GET', path(IN_ZERO)), { to: 'cell', cell: 0 })
  assert.deepEqual(ask('GET', path(MOVED), { named: 0 }), { to: 'cell', cell: 0 })
})

test('a payment goes to the cell of its account', () => {
  const path = `/operator/v1/payments/${UUID4}`
  assert.deepEqual(ask('PUT', path, { accountId: MOVED }), { to: 'cell', cell: 7 })
  assert.deepEqual(ask('PUT', path, { accountId: IN_ZERO }), { to: 'cell', cell: 0 })
  assert.deepEqual(ask('PUT', path), { to: 'cell', cell: 0 })
  assert.deepEqual(ask('POST', '/operator/v1/payments/batch'), { to: 'batch' })
})

test('what the operator asks by id goes to the cell that made it, or to all where ids do not tell', () => {
  assert.deepEqual(ask('PATCH', `/operator/v1/clients/${MOVED}`), { to: 'cell', cell: 7 })
  assert.deepEqual(ask('GET', `/operator/v1/clients/${IN_ZERO}/accounts`), { to: 'cell', cell: 0 })
  for (const path of [
    `/operator/v1/deliveries/${IN_SEVEN}/replay`,
    `/operator/v1/endpoints/${IN_SEVEN}`,
    `/operator/v1/events/${IN_SEVEN}/body`,
    `/operator/v1/jobs/${IN_SEVEN}`,
    `/documents/${IN_ZERO}.${IN_SEVEN}.mac`,
  ]) {
    assert.deepEqual(ask('POST', path), { to: 'finder', first: 7 }, path)
  }
  assert.deepEqual(ask('GET', `/operator/v1/payments/${UUID4}/events`), {
    to: 'finder',
    first: null,
  })
})

test('a list of the operator is that of all cells, unless it is narrowed to one', () => {
  const list = '/operator/v1/deliveries'
  assert.deepEqual(ask('GET', list), { to: 'list', list: 'deliveries' })
  assert.deepEqual(ask('GET', `${list}?clientId=${MOVED}`), { to: 'cell', cell: 7 })
  assert.deepEqual(ask('GET', `${list}?accountId=${IN_ZERO}`), { to: 'cell', cell: 0 })
  assert.deepEqual(ask('GET', list, { named: 7 }), { to: 'cell', cell: 7 })
})

test('what names no cell has to: a new client, a bulk replay, statistics', () => {
  for (const [method, path] of [
    ['POST', 'clients'],
    ['POST', 'deliveries/replay'],
    ['GET', 'stats'],
    ['GET', 'stream'],
    ['GET', 'settings'],
    ['GET', 'audit/head'],
    ['DELETE', 'nonsense'],
  ] as const) {
    assert.deepEqual(ask(method, `/operator/v1/${path}`), { to: 'unnamed' }, path)
    const named = { to: 'cell', cell: 7 }
    assert.deepEqual(ask(method, `/operator/v1/${path}`, { named: 7 }), named, path)
  }
})

test('what is the same in every cell may come from any', () => {
  for (const path of ['/', '/openapi.json', '/docs', '/console/', '/problems/not-found']) {
    assert.deepEqual(ask('GET', path), { to: 'any' }, path)
  }
  assert.deepEqual(ask('POST', '/auth/token'), { to: 'token' })
  assert.deepEqual(ask('POST', '/console/session'), { to: 'session' })
  assert.deepEqual(ask('GET', '/.well-known/webhook-keys.json'), { to: 'keys' })
  assert.deepEqual(ask('GET', '/operator/v1/cells', { named: 7 }), { to: 'directory' })
})
