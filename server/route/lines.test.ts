import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { untilDrained } from './lines.ts'

test('a full stream is waited for until it takes more or is closed, and nothing is left listening', async () => {
  const stream = new PassThrough({ highWaterMark: 1 })
  const count = () => ['drain', 'close', 'error'].map((event) => stream.listenerCount(event))
  const before = count()
  for (let n = 0; n < 20; n++) {
    assert.equal(stream.write('full'), false)
    const drained = untilDrained(stream)
    stream.read()
    await drained
    assert.deepEqual(count(), before)
  }
  stream.write('full')
  const closed = untilDrained(stream)
  stream.destroy()
  await closed
})
