import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { chainUnder, costlyKey } from '../../../test/adversary/costly-receivers.ts'
import { newKey } from '../../../test/support/issue-certificate.ts'
import { HandshakeGate, SHOWN_BYTES_MAX } from './handshake-gate.ts'

const FINE = chainUnder(newKey(), 3)
const COSTLY = chainUnder(costlyKey(), 3)

const length = (bytes: number, value: number) => {
  const written = Buffer.alloc(bytes)
  written.writeUIntBE(value, 0, bytes)
  return written
}
const vector = (bytes: number, content: Buffer) =>
  Buffer.concat([length(bytes, content.length), content])
const message = (type: number, body: Buffer) =>
  Buffer.concat([Buffer.from([type]), vector(3, body)])
const record = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, 3, 3]), vector(2, content)])
const inRecords = (content: Buffer, bytes: number) =>
  Array.from({ length: Math.ceil(content.length / bytes) }, (_, n) =>
    record(22, content.subarray(n * bytes, (n + 1) * bytes)),
  )

function hello(extensions: Buffer | null = null, random = Buffer.alloc(32, 1)): Buffer {
  const parts = [length(2, 0x0303), random, vector(1, Buffer.alloc(32)), length(2, 0xc02b)]
  const rest = extensions === null ? [] : [vector(2, extensions)]
  return message(2, Buffer.concat([...parts, Buffer.from([0]), ...rest]))
}

function shown({ options }: typeof FINE): Buffer {
  const pems = options.cert.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? []
  const chain = pems.map((pem) => vector(3, new X509Certificate(pem).raw))
  return message(11, vector(3, Buffer.concat(chain)))
}

function start() {
  const passed: Buffer[] = []
  const refused: string[] = []
  const gate = new HandshakeGate({
    pass: (bytes) => passed.push(Buffer.from(bytes)),
    refuse: (why) => refused.push(why),
  })
  return { gate, refused, passed: () => Buffer.concat(passed) }
}

const DONE = message(14, Buffer.alloc(0))

test('what a usual receiver sends passes byte by byte, in its order, in whatever pieces it comes', () => {
  const flight = Buffer.concat([hello(), shown(FINE), DONE])
  for (const recordBytes of [1, 100, 16_000]) {
    const bytes = Buffer.concat(inRecords(flight, recordBytes))
    for (const step of [1, 1_000, bytes.length]) {
      const { gate, passed, refused } = start()
      for (let at = 0; at < bytes.length; at += step) gate.take(bytes.subarray(at, at + step))
      assert.deepEqual([passed().equals(bytes), refused, gate.isOpen], [true, [], true])
    }
  }
})

test('the record that completes a costly chain is not handed on, nor anything after it', () => {
  const chain = Buffer.concat([hello(), shown(COSTLY)])
  for (const recordBytes of [100, 16_000]) {
    const records = inRecords(chain, recordBytes)
    const { gate, passed, refused } = start()
    for (const one of records) gate.take(one)
    gate.take(record(22, DONE))
    assert.deepEqual(refused, ['too-costly'])
    assert.ok(passed().equals(Buffer.concat(records.slice(0, -1))))
  }
})

test('no more than 48 KiB are handed on before the gate is open', () => {
  const { gate, passed, refused } = start()
  gate.take(record(22, hello()))
  for (let n = 0; n < 100; n += 1) gate.take(record(22, message(4, Buffer.alloc(1_000))))
  assert.deepEqual(refused, ['too-costly'])
  assert.ok(passed().length <= SHOWN_BYTES_MAX)
})

test('a message that says it is longer is refused before it is there', () => {
  const { gate, refused } = start()
  gate.take(record(22, hello()))
  gate.take(record(22, Buffer.concat([Buffer.from([11]), length(3, SHOWN_BYTES_MAX)])))
  assert.deepEqual(refused, ['too-costly'])
})

test('what is no handshake of TLS 1.2 or 1.3 is refused', () => {
  const version = (...numbers: number[]) =>
    Buffer.concat(
      numbers.map((number) => Buffer.concat([length(2, 43), vector(2, length(2, number))])),
    )
  const tls13 = hello(version(0x0304))
  const retry = hello(
    version(0x0304),
    Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex'),
  )
  const cases: [string, readonly Buffer[]][] = [
    ['HTTP', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
    ['a certificate without a hello', [record(22, shown(FINE))]],
    ['data without a hello', [record(23, Buffer.alloc(100))]],
    ['an empty record', [record(22, Buffer.alloc(0))]],
    ['a record too long', [record(22, Buffer.alloc(20_000))]],
    ['an unknown record', [record(24, Buffer.alloc(10))]],
    [
      'keys in place of a certificate',
      [record(22, hello()), record(22, message(12, Buffer.alloc(9)))],
    ],
    ['an odd version', [record(22, hello(version(0x0305)))]],
    ['two versions', [record(22, hello(version(0x0304, 0x0304)))]],
    ['something behind the hello', [record(22, Buffer.concat([tls13, shown(COSTLY)]))]],
    ['a certificate in clear behind the hello', [record(22, tls13), record(22, shown(COSTLY))]],
    ['a second retry', [record(22, retry), record(22, retry)]],
    ['a certificate behind a retry', [record(22, retry), record(22, shown(COSTLY))]],
    [
      'a chain that does not end with its message',
      [record(22, Buffer.concat([hello(), message(11, Buffer.from([0, 0, 9]))]))],
    ],
  ]
  for (const [name, records] of cases) {
    const { gate, passed, refused } = start()
    gate.learn(Buffer.from(`SERVER_HANDSHAKE_TRAFFIC_SECRET 00 ${'00'.repeat(48)}\n`))
    for (const one of records) {
      gate.take(one)
      gate.learn(Buffer.from(`SERVER_HANDSHAKE_TRAFFIC_SECRET 00 ${'00'.repeat(48)}\n`))
    }
    assert.deepEqual(refused, ['malformed'], name)
    assert.ok(passed().length < Buffer.concat(records).length, name)
  }
})

test('whatever byte is another one, only what was sent is handed on, and nothing is thrown', () => {
  const bytes = record(22, Buffer.concat([hello(), shown(FINE)]))
  for (let at = 0; at < bytes.length; at += 1) {
    for (const value of [0, 1, 0x80, 0xff]) {
      const changed = Buffer.from(bytes)
      changed[at] = value
      const { gate, passed, refused } = start()
      gate.take(changed)
      const sent = gate.isOpen ? changed : changed.subarray(0, passed().length)
      assert.ok(passed().equals(sent), `byte ${at}`)
      assert.ok(refused.length <= 1 && !(gate.isOpen && refused.length > 0))
    }
  }
})

test('an alert passes, also before the hello: the receiver says what it does not like', () => {
  const { gate, passed, refused } = start()
  const alert = record(21, Buffer.from([2, 40]))
  gate.take(alert)
  assert.deepEqual([passed().equals(alert), refused, gate.isOpen], [true, [], false])
})

test('an encrypted record that was sealed with another key is refused', () => {
  const extension = Buffer.concat([length(2, 43), vector(2, length(2, 0x0304))])
  const tls13 = hello(extension)
  tls13.writeUInt16BE(0x1301, 4 + 2 + 32 + 1 + 32)
  const { gate, refused } = start()
  gate.take(record(22, tls13))
  gate.learn(Buffer.from(`SERVER_HANDSHAKE_TRAFFIC_SECRET 00 ${'00'.repeat(32)}\n`))
  gate.take(record(20, Buffer.from([1])))
  gate.take(record(23, Buffer.alloc(100, 7)))
  assert.deepEqual(refused, ['malformed'])
})
