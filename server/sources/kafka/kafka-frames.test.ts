// Brokers that lie about what they send, over real sockets: a client keeps nothing of it, and nothing of it ends the process.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { KafkaSettings } from '../../config/config.ts'
import { inspectKafka } from './inspect-kafka.ts'
import { Frames } from './kafka-frames.ts'
import { KafkaReader } from './kafka-reader.ts'

const API_VERSIONS = 18
const METADATA = 3
const FETCH = 1
const CORRELATION_AT = 8

/** Answers each request by its kind; what it is answered with begins behind the number of the request. */
async function startBroker(
  t: TestContext,
  answer: (kind: number, request: Buffer, socket: Socket) => void,
): Promise<KafkaSettings> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const end = 4 + rest.readInt32BE(0)
        answer(rest.readInt16BE(4), rest.subarray(0, end), socket)
        rest = rest.subarray(end)
      }
    })
    t.after(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { brokers: [`127.0.0.1:${port}`], topic: 't', group: 'g', tls: null, sasl: null }
}

const frame = (length: number, request: Buffer, body = Buffer.alloc(0)) => {
  const head = Buffer.alloc(4)
  head.writeInt32BE(length)
  return Buffer.concat([head, request.subarray(CORRELATION_AT, CORRELATION_AT + 4), body])
}

test('frames are found wherever the chunks are cut', () => {
  const honest = Buffer.concat(
    [4, 9, 100].map((bytes) => frame(bytes, Buffer.alloc(12), Buffer.alloc(bytes - 4))),
  )
  for (let size = 1; size < honest.length; size++) {
    const frames = new Frames(100)
    for (let at = 0; at < honest.length; at += size) {
      assert.equal(frames.take(honest.subarray(at, at + size)), null)
    }
    assert.match(frames.take(frame(101, Buffer.alloc(12))) ?? '', /101 bytes, above 100/)
    assert.match(frames.take(honest) ?? '', /101 bytes/, 'it stays')
  }
  for (const bytes of [3, 0, -1, -5, -(2 ** 31)]) {
    assert.match(
      new Frames(100).take(frame(bytes, Buffer.alloc(12))) ?? '',
      /frame of -?\d+ bytes$/,
    )
  }
})

test('regression: a broker that claims 2 GiB and pours is left at once', async (t) => {
  let poured = 0
  const settings = await startBroker(t, (_, request, socket) => {
    socket.write(frame(0x7fff_ffff, request))
    const zeros = Buffer.alloc(1_024 * 1_024)
    const pour = () => {
      while (!socket.destroyed && poured < 400_000_000) {
        poured += zeros.length
        if (!socket.write(zeros)) return void socket.once('drain', pour)
      }
    }
    pour()
  })
  const refused: string[] = []
  const before = process.memoryUsage().arrayBuffers
  const reader = new KafkaReader(settings, (fault) => void refused.push(fault))
  t.after(() => reader.close())
  await assert.rejects(reader.findLeaders([0]))
  assert.match(refused[0] ?? '', /frame of 2147483647 bytes, above/)
  t.diagnostic(`${poured} bytes were poured`)
  assert.ok(poured < 50_000_000, `${poured} bytes were poured`)
  assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000)
  await assert.rejects(inspectKafka(settings), /frame of 2147483647 bytes/)
})

test('regression: a frame below zero bytes ends the connection, and not the process', async (t) => {
  const settings = await startBroker(t, (_, request, socket) => {
    socket.write(frame(-5, request, Buffer.alloc(100)))
  })
  const refused: string[] = []
  const reader = new KafkaReader(settings, (fault) => void refused.push(fault))
  t.after(() => reader.close())
  await assert.rejects(reader.findLeaders([0]))
  assert.match(refused[0] ?? '', /frame of -5 bytes$/)
})

test('a broker that wants TLS is still said to', async (t) => {
  const settings = await startBroker(t, (_, __, socket) => {
    socket.write(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]))
  })
  await assert.rejects(inspectKafka(settings), /requires TLS/)
})

test('an answer that is whole and honest comes through, byte by byte', async (t) => {
  const requests: number[] = []
  const settings = await startBroker(t, (kind, request, socket) => {
    requests.push(kind)
    if (kind !== API_VERSIONS) return socket.destroy()
    // No error; two kinds, each from version 0 to 0; no throttling; no tagged fields.
    const kinds = [METADATA, FETCH].flatMap((one) => [0, one, 0, 0, 0, 0, 0])
    const body = Buffer.from([0, 0, 3, ...kinds, 0, 0, 0, 0, 0])
    socket.setNoDelay(true)
    for (const byte of frame(4 + body.length, request, body)) socket.write(Buffer.from([byte]))
  })
  const reader = new KafkaReader(settings, (fault) => assert.fail(fault))
  t.after(() => reader.close())
  await assert.rejects(reader.findLeaders([0]))
  assert.deepEqual(requests, [API_VERSIONS, METADATA], 'it has understood which kinds there are')
})
