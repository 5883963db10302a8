import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadRouteConfig, parseCells } from './route-config.ts'

const GOOD = {
  PAYBELL_ROUTE_CELLS: '7=http://b/,0=http://a:1|http://a:2',
  PAYBELL_ROUTE_KEY: 'key',
}
const load = (env: Record<string, string>) => loadRouteConfig(env, () => '')

test('cells are read with their addresses, and an operator port has one of its own', () => {
  assert.deepEqual(load(GOOD).cells, [
    { cell: 0, address: 'http://a:1', operatorAddress: 'http://a:2' },
    { cell: 7, address: 'http://b', operatorAddress: 'http://b' },
  ])
  assert.equal(load(GOOD).port, 8080)
})

test('what is no list of different cells is refused', () => {
  for (const text of [
    '',
    'http://a',
    '7=b',
    '7=http://a,7=http://b',
    '1024=http://a',
    '7=http://a,',
  ]) {
    assert.equal(parseCells(text), undefined, text)
  }
})

test('faults are named together, without a value', () => {
  const env = { PAYBELL_ROUTE_CELLS: '7=secret', PORT: 'x', PAYBELL_TRUSTED_PROXIES: 'y' }
  assert.throws(
    () => load(env),
    (error: Error) =>
      ['PAYBELL_ROUTE_CELLS', 'PAYBELL_ROUTE_KEY', 'PORT', 'PAYBELL_TRUSTED_PROXIES'].every(
        (name) => error.message.includes(name),
      ) && !error.message.includes('7=secret'),
  )
})
