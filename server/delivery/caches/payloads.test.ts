import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, nextTick, testEnvironment } from '../../../test/support/engine-parts.ts'
import { heapGrowthOf } from '../../../test/support/heap.ts'
import type { Payload } from '../../store/history/events.ts'
import { Payloads } from './payloads.ts'

const HASH = Buffer.alloc(32, 7)
const WITH_DOCUMENT = '{"id":"1","document":{"name":"a"}}'
const WHOLE = '{"id":"1","document":{"name":"a","base64EncodedFile":"AAAA"}}'

function payload(text: string, documentBytes: number | null = null): Payload {
  return { text, documentHash: documentBytes === null ? null : HASH, documentBytes }
}

function payloadsOver(
  stored: Record<string, Payload>,
  file: () => Promise<Buffer | null> = async () => Buffer.from('AAAA'),
  limits = { cacheBytesMax: 100, fileBytesMax: 10 },
) {
  const reads: string[] = []
  const { store } = testEnvironment({
    readPayloads: async (keys) => {
      reads.push(...keys.map(({ eventId }) => eventId))
      return new Map(
        Object.entries(stored).filter(([id]) => keys.some((key) => key.eventId === id)),
      )
    },
    readFile: file,
  })
  return { payloads: new Payloads(store, limits), reads }
}

async function textOf(payloads: Payloads, eventId: string): Promise<string | null> {
  const body = await payloads.bodyOf(1, eventId)
  body?.release()
  return body && Buffer.concat(body.parts).toString()
}

test('what came with the hand-off is not read again', async () => {
  const { payloads, reads } = payloadsOver({})
  payloads.remember(idOf(1), payload('{"id":"1"}'))
  assert.equal(await textOf(payloads, idOf(1)), '{"id":"1"}')
  assert.deepEqual(reads, [])
})

test('the cache is bounded by bytes: the oldest go, and are read when they are needed', async () => {
  const texts = [1, 2, 3].map((n) => `{"id":"${String(n).repeat(40)}"}`)
  const stored = Object.fromEntries(texts.map((text, n) => [idOf(n), payload(text)]))
  const { payloads, reads } = payloadsOver(stored)
  for (const [n, text] of texts.entries()) payloads.remember(idOf(n), payload(text))
  for (const [n, text] of texts.entries()) assert.equal(await textOf(payloads, idOf(n)), text)
  assert.deepEqual(reads, [idOf(0)])
})

test('one that is larger than the whole cache is not kept, and leaves the cache usable', async () => {
  const { payloads, reads } = payloadsOver({})
  payloads.remember(idOf(1), payload('x'.repeat(200)))
  payloads.remember(idOf(2), payload('{"id":"2"}'))
  assert.equal(await textOf(payloads, idOf(1)), null)
  assert.equal(await textOf(payloads, idOf(2)), '{"id":"2"}')
  assert.deepEqual(reads, [idOf(1)])
})

test('a text goes with the last of the deliveries that came with it', async () => {
  const stored = { [idOf(1)]: payload('{"id":"1"}') }
  const { payloads, reads } = payloadsOver(stored)
  for (let n = 0; n < 2; n++) payloads.remember(idOf(1), payload('{"id":"1"}'))
  payloads.forget(idOf(1))
  assert.equal(await textOf(payloads, idOf(1)), '{"id":"1"}')
  assert.deepEqual(reads, [], 'another delivery still needs it')
  payloads.forget(idOf(1))
  payloads.forget(idOf(1))
  assert.equal(await textOf(payloads, idOf(1)), '{"id":"1"}')
  assert.deepEqual(reads, [idOf(1)])
})

test('what was forgotten makes room: nothing else is evicted for it', async () => {
  const texts = [1, 2, 3, 4].map((n) => `{"id":"${String(n).repeat(40)}"}`)
  const { payloads, reads } = payloadsOver({})
  for (const n of [0, 1]) payloads.remember(idOf(n), payload(texts[n] as string))
  payloads.forget(idOf(1))
  payloads.remember(idOf(2), payload(texts[2] as string))
  assert.equal(await textOf(payloads, idOf(0)), texts[0])
  // And the order of those that are evicted is still that of their arrival.
  payloads.remember(idOf(3), payload(texts[3] as string))
  for (const n of [2, 3]) assert.equal(await textOf(payloads, idOf(n)), texts[n])
  assert.deepEqual(reads, [])
  assert.equal(await textOf(payloads, idOf(0)), null)
})

test('a full cache takes one more text as quickly after a million as at the start', () => {
  const { payloads } = payloadsOver({}, undefined, { cacheBytesMax: 1_000_000, fileBytesMax: 10 })
  const take = (count: number, from: number): number => {
    const before = process.threadCpuUsage()
    for (let n = from; n < from + count; n++) payloads.remember(`event ${n}`, payload('0123456789'))
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }
  const fillingMs = take(100_000, 0)
  const fullMs = take(100_000, 100_000)
  // It was a thousand times as long when each eviction looked for the oldest from the start.
  assert.ok(fullMs < 20 * fillingMs + 100, `${fillingMs} ms, then ${fullMs} ms`)
})

test('regression: events that have come and gone leave nothing in memory', () => {
  const { payloads } = payloadsOver({})
  let at = 0
  const grown = heapGrowthOf(() => {
    for (const end = at + 100_000; at < end; at++) {
      payloads.remember(String(at), payload('{}'))
      payloads.forget(String(at))
    }
  })
  assert.ok(grown < 2_000_000, `${grown} bytes`)
})

test('remembering an event twice counts it once', async () => {
  const { payloads, reads } = payloadsOver({})
  for (let n = 0; n < 50; n++) payloads.remember(idOf(1), payload('{"id":"1"}'))
  payloads.remember(idOf(2), payload('{"id":"2"}'))
  assert.ok((await textOf(payloads, idOf(1))) && (await textOf(payloads, idOf(2))))
  assert.deepEqual(reads, [])
})

test('the file is put into its document, and its bytes are held until the body is released', async () => {
  const stored = { [idOf(1)]: payload(WITH_DOCUMENT, 8) }
  const { payloads } = payloadsOver(stored)
  const first = await payloads.bodyOf(1, idOf(1))
  assert.equal(Buffer.concat(first?.parts ?? []).toString(), WHOLE)
  assert.equal(first?.bytes, WHOLE.length)
  let isIn = false
  const second = Promise.resolve(payloads.bodyOf(1, idOf(1))).then((body) => {
    isIn = true
    return body
  })
  await nextTick()
  assert.equal(isIn, false)
  first?.release()
  assert.ok(await second)
})

test('a file that is gone, and a read that fails, give their room back', async () => {
  const answers = [
    async () => null,
    () => Promise.reject(new Error('away')),
    async () => Buffer.from('AAAA'),
  ]
  const { payloads } = payloadsOver({ [idOf(1)]: payload(WITH_DOCUMENT, 10) }, () =>
    (answers.shift() ?? assert.fail())(),
  )
  assert.equal(await payloads.bodyOf(1, idOf(1)), null)
  await assert.rejects(async () => payloads.bodyOf(1, idOf(1)), /away/)
  assert.equal(await textOf(payloads, idOf(1)), WHOLE)
})

test('an event that is gone has no body', async () => {
  const { payloads } = payloadsOver({})
  assert.equal(await payloads.bodyOf(1, idOf(9)), null)
})

test('regression: F17, a damaged row is a body that is missing, not an attempt never made', async () => {
  const { payloads } = payloadsOver({
    [idOf(1)]: payload(WITH_DOCUMENT),
    [idOf(2)]: payload('{"id":"2"}', 10),
    [idOf(3)]: payload(WITH_DOCUMENT, 10),
  })
  assert.equal(await payloads.bodyOf(1, idOf(1)), null)
  assert.equal(await payloads.bodyOf(1, idOf(2)), null)
  assert.equal(await textOf(payloads, idOf(3)), WHOLE)
})
