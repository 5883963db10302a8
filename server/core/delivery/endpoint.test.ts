import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { hashHref, shardOf } from './endpoint.ts'
import { SHARD_COUNT } from './lease.ts'

test('an endpoint has the same shard in every process and every spelling of its id', () => {
  // Fixed: a change would send the endpoints of a running system to other owners.
  assert.equal(shardOf('019cade2-1350-7af3-913d-2f16aae956b4'), 17)
  assert.equal(shardOf('019CADE2-1350-7AF3-913D-2F16AAE956B4'), 17)
})

test('endpoints spread over all 64 shards', () => {
  const seen = new Set(Array.from({ length: 4_000 }, () => shardOf(randomUUID())))
  assert.equal(seen.size, SHARD_COUNT)
})

test('addresses are the same when their hrefs are', () => {
  assert.deepEqual(hashHref('https://example.com/'), hashHref('https://example.com/'))
  assert.notDeepEqual(hashHref('https://example.com/a'), hashHref('https://example.com/A'))
})
