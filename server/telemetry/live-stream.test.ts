import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { LIVE_STREAM_LIMITS, LiveStream } from './live-stream.ts'

/** The members of an answer that the stream uses; a slow one never drains what is written to it. */
class Reader extends EventEmitter {
  text = ''
  isSlow = false
  isDestroyed = false
  isEnded = false

  write(text: string): boolean {
    this.text += text
    this.emit('written')
    return !this.isSlow
  }

  async hasRead(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await once(this, 'written')
  }

  get writableLength(): number {
    return this.isSlow ? this.text.length : 0
  }

  get destroyed(): boolean {
    return this.isDestroyed
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }

  end(): void {
    this.isEnded = true
    this.emit('close')
  }

  asResponse(): ServerResponse {
    return this as unknown as ServerResponse
  }
}

const ATTEMPT = {
  deliveryId: 'd',
  eventId: 'e',
  endpointId: 'p',
  attempt: 1,
  outcome: 'answered',
  status: 200,
  at: '2026-03-02T09:30:00.400Z',
}
const LIMITS = { ...LIVE_STREAM_LIMITS, writeEveryMs: 1 }

test('regression: a reader that has hung up before it is added takes no place', () => {
  const stream = new LiveStream({ ...LIMITS, readersMax: 1 })
  const gone = new Reader()
  gone.destroy()
  stream.add(gone.asResponse(), 1)
  assert.equal(stream.isWatched, false)
  assert.equal(stream.isFull, false)
})

test('events go to every reader, and only once there is one', async (t) => {
  const stream = new LiveStream(LIMITS)
  t.after(() => stream.end())
  assert.equal(stream.isWatched, false)
  stream.attempted(() => ATTEMPT)
  const readers = [new Reader(), new Reader()]
  for (const reader of readers) stream.add(reader.asResponse())
  assert.equal(stream.isWatched, true)
  stream.attempted(() => ATTEMPT)
  for (const reader of readers) {
    await reader.hasRead(/event: attempt/)
    assert.equal(reader.text, `: watching\n\nevent: attempt\ndata: ${JSON.stringify(ATTEMPT)}\n\n`)
  }
  stream.end()
  assert.ok(readers.every((reader) => reader.isEnded))
  assert.equal(stream.isWatched, false)
})

test('a reader that falls behind is dropped, the others go on', async (t) => {
  const stream = new LiveStream({ ...LIMITS, bytesBehindMax: 100 })
  t.after(() => stream.end())
  const [slow, quick] = [new Reader(), new Reader()]
  slow.isSlow = true
  for (const reader of [slow, quick]) stream.add(reader.asResponse())
  const dropped = once(slow, 'close')
  stream.attempted(() => ATTEMPT)
  await dropped
  assert.equal(slow.isDestroyed, true)
  assert.equal(quick.isDestroyed, false)
  assert.equal(stream.isWatched, true)
})

test('more than the limit in a second is left out and counted; more readers than the limit are too many', async (t) => {
  const stream = new LiveStream({ ...LIMITS, eventsPerSecondMax: 3, readersMax: 1 })
  t.after(() => stream.end())
  const reader = new Reader()
  assert.equal(stream.isFull, false)
  stream.add(reader.asResponse())
  assert.equal(stream.isFull, true)
  for (let i = 0; i < 10; i++) stream.attempted(() => ATTEMPT)
  await reader.hasRead(/left out/)
  assert.equal(reader.text.match(/event: attempt/g)?.length, 3)
  assert.match(reader.text, /: 7 left out\n\n/)
})

test('a reader that asks for them begins with the last attempts, oldest first and none twice', async (t) => {
  const stream = new LiveStream(LIMITS)
  t.after(() => stream.end())
  const attempt = (number: number) => stream.attempted(() => ({ ...ATTEMPT, attempt: number }))
  const numbers = (reader: Reader) =>
    [...reader.text.matchAll(/"attempt":(\d+)/g)].map(([, number]) => Number(number))
  for (let number = 1; number <= 25; number++) attempt(number)
  const [early, late, incurious] = [new Reader(), new Reader(), new Reader()]
  stream.add(early.asResponse(), 20)
  assert.deepEqual(
    numbers(early),
    Array.from({ length: 20 }, (_, index) => index + 6),
  )
  attempt(26)
  stream.add(late.asResponse(), 2)
  stream.add(incurious.asResponse(), 0)
  assert.deepEqual(numbers(late), [25, 26])
  attempt(27)
  for (const reader of [early, late, incurious]) await reader.hasRead(/"attempt":27/)
  assert.deepEqual(numbers(late), [25, 26, 27])
  assert.deepEqual(numbers(early).slice(-2), [26, 27])
  assert.deepEqual(numbers(incurious), [27])
})
