import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { BrokenAnswer } from './answer-lines.ts'
import { NO_BYTES } from './answer-reader.ts'
import { NextRound } from './next-round.ts'
import { toRequestBytes } from './request-bytes.ts'
import { type Carried, Wire } from './wire.ts'

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')

/** A socket that says when it has room, and keeps what is written to it. */
class PlainSocket extends EventEmitter {
  readonly written: number[] = []
  destroyed = false
  writableLength = 0
  hasRoom = true

  write(bytes: string | Uint8Array): boolean {
    this.written.push(bytes.length)
    return this.hasRoom
  }

  destroy(): void {
    this.destroyed = true
    process.nextTick(() => this.emit('close'))
  }

  ref(): void {}
  unref(): void {}
}

function startWire() {
  const sockets: PlainSocket[] = []
  const calls: unknown[] = []
  let connected = () => {}
  let onBytes = (_bytes: Buffer) => {}
  const wire = new Wire(
    {
      nextRound: new NextRound(),
      connect: (target, callback) => {
        const socket = new PlainSocket()
        sockets.push(socket)
        onBytes = target.onBytes
        connected = () => callback(null, socket as unknown as Socket)
        return socket as unknown as Socket
      },
    },
    { protocol: 'http:', hostname: 'x', tls: null, port: '' },
    1,
    { bytes: NO_BYTES, head: null },
    () => calls.push('lost'),
  )
  const carry = (body: readonly Buffer[] = [], more: Partial<Carried> = {}) => {
    const request = toRequestBytes('POST / HTTP/1.1\r\n', [], body) ?? assert.fail()
    const carried = {
      mayBegin: () => true,
      onHead: () => {},
      onBody: () => {},
      onWhole: () => calls.push(`whole, free: ${wire.rest()}`),
      onBroken: (error: unknown) => calls.push(error),
      ...more,
    }
    wire.carry(carried, request)
  }
  const socket = () => sockets.at(-1) ?? assert.fail()
  return {
    wire,
    carry,
    sockets,
    socket,
    calls,
    connect: () => connected(),
    take: (bytes: Buffer) => onBytes(bytes),
  }
}

const nextTurn = () => new Promise(setImmediate)
const MEGABYTE = 1_000_000

test('head and body are one write; of a large body each part is written when the one before has left', async () => {
  const { carry, socket, connect } = startWire()
  carry([Buffer.from('{'), Buffer.from('}')])
  connect()
  assert.equal(socket().written.length, 1)

  const large = startWire()
  large.carry(Array.from({ length: 3 }, () => Buffer.alloc(MEGABYTE)))
  large.socket().hasRoom = false
  large.connect()
  for (const parts of [1, 2, 3]) {
    await nextTurn()
    assert.deepEqual(large.socket().written.slice(1), Array(parts).fill(MEGABYTE))
    large.socket().emit('drain')
  }
  await nextTurn()
  assert.equal(large.socket().listenerCount('close'), 1, 'one for the wire, none for the parts')
})

test('a body that hands its parts out one by one is sent as it does', async () => {
  const parts = [Buffer.alloc(MEGABYTE), Buffer.alloc(MEGABYTE)]
  const gates = parts.map(() => Promise.withResolvers<void>())
  const slow = Object.assign([...parts], {
    async *[Symbol.asyncIterator]() {
      for (const [at, part] of parts.entries()) {
        await gates[at]?.promise
        yield part
      }
    },
  })
  const { carry, socket, connect } = startWire()
  carry(slow)
  connect()
  for (const [at, gate] of gates.entries()) {
    await nextTurn()
    assert.equal(socket().written.length, 1 + at)
    gate.resolve()
  }
  await nextTurn()
  assert.equal(socket().written.length, 3)
})

test('a body that fails while it is handed out fails its request', async () => {
  const failing = Object.assign([Buffer.alloc(MEGABYTE)], {
    // biome-ignore lint/correctness/useYield: it fails before it has a part.
    async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
      throw new Error('no part')
    },
  })
  const { carry, socket, calls, connect } = startWire()
  carry(failing)
  connect()
  await nextTurn()
  assert.match(String(calls), /no part/)
  assert.equal(socket().destroyed, true)
})

test('an answer before all of its request has left is the answer, and the socket is not used again', async () => {
  const { carry, socket, calls, connect, take } = startWire()
  carry([Buffer.alloc(MEGABYTE), Buffer.alloc(MEGABYTE)])
  socket().hasRoom = false
  connect()
  take(OK)
  assert.deepEqual(calls, ['whole, free: false'])

  const small = startWire()
  small.carry()
  small.connect()
  small.socket().writableLength = 1
  small.take(OK)
  assert.deepEqual(small.calls, ['whole, free: false'])
})

test('a part that waits for room is not written to a socket that is gone', async () => {
  const { wire, carry, socket, calls, connect } = startWire()
  carry([Buffer.alloc(MEGABYTE), Buffer.alloc(MEGABYTE)])
  socket().hasRoom = false
  connect()
  await nextTurn()
  wire.destroy()
  await nextTurn()
  assert.equal(socket().written.length, 2)
  assert.deepEqual(calls, [])
})

test('a wire that is destroyed in the middle of an answer calls nothing any more', () => {
  const { wire, carry, calls, connect, take } = startWire()
  carry([], { onHead: () => wire.destroy(), onBody: () => calls.push('body') })
  connect()
  take(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  take(Buffer.from('more'))
  assert.deepEqual(calls, [])
})

test('bytes right after an answer: it is no whole one, and the socket goes with it', () => {
  const { carry, socket, calls, connect, take } = startWire()
  carry()
  connect()
  take(Buffer.concat([OK, OK]))
  assert.equal(calls.length, 1)
  assert.ok(calls[0] instanceof BrokenAnswer)
  assert.equal(socket().destroyed, true)
})

test('bytes before the connection stands are no answer: the request is told at once', () => {
  const { carry, socket, calls, take } = startWire()
  carry()
  take(OK)
  assert.ok(calls[0] instanceof BrokenAnswer)
  assert.equal(socket().destroyed, true)
})

test('an end before the answer, or in it, is told once; what comes after it is passed over', () => {
  for (const begun of ['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n']) {
    const { carry, socket, calls, connect, take } = startWire()
    carry()
    connect()
    take(Buffer.from(begun))
    socket().emit('end')
    socket().emit('error', new Error('late'))
    take(OK)
    assert.equal(calls.length, 1, begun)
    assert.match(String(calls[0]), /has ended its side/)
  }
})

test('what a receiver does to an idle socket, or while it is looked at, costs that socket and no request', async () => {
  const acts: ((wire: ReturnType<typeof startWire>) => void)[] = [
    ({ socket }) => socket().emit('end'),
    ({ socket }) => socket().emit('error', new Error('reset')),
    ({ socket }) => socket().destroy(),
    ({ take }) => take(OK),
  ]
  for (const act of acts) {
    const idle = startWire()
    idle.carry()
    idle.connect()
    idle.take(OK)
    assert.deepEqual(idle.calls, ['whole, free: true'])
    act(idle)
    await nextTurn()
    assert.deepEqual(idle.calls.slice(1), ['lost'])

    const looked = startWire()
    looked.carry()
    looked.connect()
    looked.take(OK)
    looked.carry()
    act(looked)
    await nextTurn()
    assert.deepEqual(
      looked.sockets.map(({ destroyed }) => destroyed),
      [true, false],
    )
    looked.connect()
    looked.take(OK)
    assert.deepEqual(looked.calls, ['whole, free: true', 'whole, free: true'])
    assert.deepEqual(
      looked.sockets.map(({ written }) => written.length),
      [1, 1],
    )
  }
})

test('what a socket of before does late is nothing to the one of now', async () => {
  const { carry, sockets, calls, connect, take } = startWire()
  carry()
  connect()
  take(OK)
  carry()
  const [before = assert.fail()] = sockets
  before.emit('error', new Error('reset'))
  await nextTurn()
  connect()
  take(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
  before.emit('end')
  before.emit('error', new Error('again'))
  assert.deepEqual(calls, ['whole, free: true'])
})

test('a socket that is idle is written to only after the round in which it was looked at', async () => {
  const { carry, socket, connect, take } = startWire()
  carry()
  connect()
  take(OK)
  carry()
  assert.equal(socket().written.length, 1)
  await nextTurn()
  assert.equal(socket().written.length, 2)
})
