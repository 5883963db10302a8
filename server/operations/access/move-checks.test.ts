import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../core/plain/errors.ts'
import type { ClientMove } from '../../store/moves/client-moves.ts'
import { ClientMoves, checkLogin, checkRequest, refusePayment } from './move-checks.ts'

const ACCOUNT = '019a8f6e-1c2d-7a3b-9000-5e6f70819205'
const MOVED: ClientMove = {
  clientKey: 3,
  clientId: '019a8f6e-1c2d-7a3b-9000-5e6f70819204',
  toCell: 7,
  toAddress: 'https://cell7.example.com',
  state: 'MOVED',
  activeEndpoints: [],
}

function refusalOf(act: () => unknown): ServiceError {
  try {
    act()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  return assert.fail('it is not refused')
}

test('a 308 names the client that was authenticated, or the account that an operator writes to', () => {
  const own = refusalOf(() => checkRequest(MOVED, { method: 'GET' }))
  assert.deepEqual([own.code, own.movedToCell, own.movedId], ['client-moved', 7, MOVED.clientId])
  assert.equal(refusePayment(MOVED, ACCOUNT)?.movedId, ACCOUNT)
})

test('a 308 that comes before any credential is checked names no one', () => {
  const login = refusalOf(() => checkLogin(new Map([[3, MOVED]]), MOVED.clientId))
  assert.deepEqual([login.code, login.movedToCell], ['client-moved', 7])
  assert.equal(login.movedId, undefined)
})

test('regression: a login with the id in upper case is sent on, too', () => {
  const moves = new Map([[3, MOVED]])
  const login = refusalOf(() => checkLogin(moves, MOVED.clientId.toUpperCase()))
  assert.deepEqual([login.code, login.movedToCell], ['client-moved', 7])
})

test('a client on its way reads, writes nothing, and its payments are accepted until the copy', () => {
  const draining = { ...MOVED, state: 'DRAINING' as const }
  checkRequest(draining, { method: 'GET' })
  assert.equal(refusalOf(() => checkRequest(draining, { method: 'POST' })).code, 'overloaded')
  assert.equal(refusePayment(draining, ACCOUNT), null)
  const copying = { ...MOVED, state: 'COPYING' as const }
  assert.equal(refusePayment(copying, ACCOUNT)?.code, 'overloaded')
  checkLogin(new Map([[3, copying]]), MOVED.clientId)
})

test('what is half a second old is read anew beside the request, which does not wait; a second old is not used', async () => {
  let nowMs = 0
  const reads: (() => void)[] = []
  const query = () => new Promise((resolve) => reads.push(() => resolve({ rows: [] })))
  const moves = new ClientMoves({
    pool: { query },
    clock: { monotonicMs: () => nowMs },
  } as unknown as ConstructorParameters<typeof ClientMoves>[0])
  const first = moves.current()
  reads.shift()?.()
  const known = await first
  nowMs = 499
  assert.equal(await moves.current(), known)
  assert.equal(reads.length, 0)
  nowMs = 501
  assert.equal(await moves.current(), known)
  assert.equal(await moves.current(), known)
  assert.equal(reads.length, 1, 'it is asked for once')
  nowMs = 1_000
  const waiting = moves.current()
  reads.shift()?.()
  assert.notEqual(await waiting, known)
  assert.equal(await waiting, await moves.current())
})
