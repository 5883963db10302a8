import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, nextTick, testEnvironment } from '../../../test/support/engine-parts.ts'
import { DEFAULT_SETTINGS } from '../../core/delivery/endpoint-settings.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { EndpointKey } from '../seams/delivery-store.ts'
import { EndpointCache } from './endpoint-cache.ts'

/** A cache over reads that end when the test says so, with the address that they then find. */
function cacheOverReads() {
  const reads: { keys: readonly EndpointKey[]; find(url: string): void; fail(): void }[] = []
  const { store } = testEnvironment({
    readEndpoints: (keys) =>
      new Promise((resolve, reject) => {
        reads.push({
          keys,
          find: (url) => resolve(keys.map((key) => endpoint(key, url))),
          fail: () => reject(new Error('away')),
        })
      }),
  })
  return { cache: new EndpointCache(store), reads }
}

function endpoint({ clientKey, endpointId }: EndpointKey, url: string): SendingEndpoint {
  const settings = DEFAULT_SETTINGS
  return {
    clientKey,
    id: endpointId,
    shard: 1,
    url,
    isActive: true,
    retriedAtMs: 0,
    settings,
    secrets: null,
  }
}

const A = idOf(1)

test('those asked for in one tick are read in one statement, each once', async () => {
  const { cache, reads } = cacheOverReads()
  const asked = [1, 2, 3, 1, 2].map((n) => cache.get(1, idOf(n)))
  await nextTick()
  assert.equal(reads.length, 1)
  assert.deepEqual(
    reads[0]?.keys.map((key) => key.endpointId),
    [1, 2, 3].map(idOf),
  )
  const later = cache.get(1, idOf(2))
  reads[0]?.find('https://a.test')
  for (const one of [...asked, later]) assert.equal((await one)?.url, 'https://a.test')
  assert.ok(!(cache.get(1, idOf(3)) instanceof Promise), 'known, so that none waits')
  assert.equal(reads.length, 1)
})

test('those expected are read together, and a caller in between waits for that read', async () => {
  const { cache, reads } = cacheOverReads()
  for (const n of [1, 2, 1]) cache.expect(1, idOf(n))
  await nextTick()
  const asked = cache.get(1, idOf(2))
  reads[0]?.find('https://a.test')
  assert.equal((await asked)?.url, 'https://a.test')
  cache.expect(1, idOf(1))
  await nextTick()
  assert.equal(reads.length, 1)
})

test('an expectation that fails is no caller’s error, and the next caller reads again', async () => {
  const { cache, reads } = cacheOverReads()
  cache.expect(1, A)
  await nextTick()
  reads[0]?.fail()
  await nextTick()
  const asked = cache.get(1, A)
  await nextTick()
  reads[1]?.find('https://a.test')
  assert.equal((await asked)?.url, 'https://a.test')
})

test('an endpoint that does not exist is null, and is asked for again', async () => {
  let reads = 0
  const { store } = testEnvironment({
    readEndpoints: async () => {
      reads++
      return []
    },
  })
  const cache = new EndpointCache(store)
  assert.equal(await cache.get(1, A), null)
  assert.equal(await cache.get(1, A), null)
  assert.equal(reads, 2)
})

test('a read that fails reaches all who wait, and the next one reads again', async () => {
  const { cache, reads } = cacheOverReads()
  const both = [cache.get(1, A), cache.get(1, A)]
  await nextTick()
  reads[0]?.fail()
  for (const one of both) await assert.rejects(async () => one, /away/)
  const again = cache.get(1, A)
  await nextTick()
  reads[1]?.find('https://a.test')
  assert.equal((await again)?.url, 'https://a.test')
})

test('a change is noticed by the next who asks', async () => {
  const { cache, reads } = cacheOverReads()
  const first = cache.get(1, A)
  await nextTick()
  reads[0]?.find('https://old.test')
  await first
  cache.forget(A)
  const second = cache.get(1, A)
  await nextTick()
  reads[1]?.find('https://new.test')
  assert.equal((await second)?.url, 'https://new.test')
})

test('what was read while the endpoint changed is not kept', async () => {
  const { cache, reads } = cacheOverReads()
  void cache.get(1, A)
  await nextTick()
  cache.forget(A)
  reads[0]?.find('https://old.test')
  await nextTick()
  const second = cache.get(1, A)
  assert.ok(second instanceof Promise)
  await nextTick()
  reads[1]?.find('https://new.test')
  assert.equal((await second)?.url, 'https://new.test')
})

test('regression: a change before the read and another during it: the old row is not kept', async () => {
  const { cache, reads } = cacheOverReads()
  void cache.get(1, A)
  cache.forget(A)
  await nextTick()
  cache.forget(A)
  reads[0]?.find('https://old.test')
  await nextTick()
  assert.ok(cache.get(1, A) instanceof Promise)
})

test('regression: an older read that ends does not pass for the newer one', async () => {
  const { cache, reads } = cacheOverReads()
  void cache.get(1, A)
  await nextTick()
  cache.forget(A)
  const second = cache.get(1, A)
  await nextTick()
  reads[0]?.find('https://old.test')
  await nextTick()
  const third = cache.get(1, A)
  assert.ok(third instanceof Promise, 'still the read that is under way')
  reads[1]?.find('https://new.test')
  await nextTick()
  for (const one of [second, third]) assert.equal((await one)?.url, 'https://new.test')
  assert.equal((cache.get(1, A) as SendingEndpoint).url, 'https://new.test')
  assert.equal(reads.length, 2)
})
