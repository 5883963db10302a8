import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readServerSentEvents } from './server-sent-events.ts'

async function read(chunks: readonly string[]) {
  const stream = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
  const events = []
  for await (const one of readServerSentEvents(stream as ReadableStream<Uint8Array>))
    events.push(one)
  return events
}

test('events are read whatever way the bytes are cut', async () => {
  const text =
    ': hello\n\nevent: attempt\ndata: {"a":1}\n\nid: 7\ndata: x\ndata: y\n\nevent: late\n'
  const expected = [
    { event: 'attempt', data: '{"a":1}' },
    { event: 'message', data: 'x\ny' },
  ]
  assert.deepEqual(await read([text]), expected)
  assert.deepEqual(await read([...text]), expected)
  assert.deepEqual(await read([...text.replaceAll('\n', '\r\n')]), expected)
})

test('a line without end is not kept', async () => {
  await assert.rejects(read(['x'.repeat(1_000_001)]))
})
