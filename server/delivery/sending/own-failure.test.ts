import assert from 'node:assert/strict'
import test from 'node:test'
import { isOwnFailure, isOwnLookupFailure } from './own-failure.ts'

function failure(code: string, address?: string): Error {
  return Object.assign(new Error(code), { code, address })
}

test('no descriptor, memory or local port is ours; whatever a receiver can cause is not', () => {
  for (const ours of [
    failure('EMFILE', '192.0.2.1'),
    failure('ENFILE'),
    failure('ENOMEM'),
    failure('ENOBUFS'),
    failure('EADDRNOTAVAIL', '192.0.2.1'),
    new AggregateError([failure('EMFILE'), failure('EMFILE')]),
  ]) {
    assert.ok(isOwnFailure(ours), ours.message)
  }
  for (const theirs of [
    failure('ECONNREFUSED', '192.0.2.1'),
    failure('EHOSTUNREACH'),
    // A machine without IPv6 says this of every IPv6 address.
    failure('EADDRNOTAVAIL', '2001:db8::1'),
    new AggregateError([failure('ECONNREFUSED'), failure('EMFILE')]),
    undefined,
  ]) {
    assert.ok(!isOwnFailure(theirs), String(theirs))
  }
})

test('a name server that refuses is not our own failure while there are descriptors', () => {
  assert.ok(!isOwnLookupFailure(failure('ECONNREFUSED')))
  assert.ok(!isOwnLookupFailure(new AggregateError([failure('ENOTFOUND'), failure('ENODATA')])))
})
