// Against vectors made by another implementation (test/vectors), and against the library that
// receivers use. The SDK is held to the same vectors.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { hmacHex, standardSignature, toSigningKey } from './signature.ts'

interface Vectors {
  callbacks: {
    name: string
    sharedKey: string
    body: string
    webhookId: string
    webhookTimestamp: number
    hmac: string
    webhookSignature: string
  }[]
  rfc4231: { name: string; keyHex: string; dataHex: string; hmac: string }[]
}

const file = new URL('../../../test/vectors/signatures.json', import.meta.url)
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'))

function standardLibrary(sharedKey: string): Webhook {
  return new Webhook(`whsec_${Buffer.from(sharedKey, 'utf8').toString('base64')}`)
}

/** The body cut in two, as bodies with files are. */
function inParts(body: Buffer): Buffer[] {
  const middle = body.length >> 1
  return [body.subarray(0, middle), body.subarray(middle)]
}

for (const vector of vectors.callbacks) {
  test(`G2: ${vector.name}`, () => {
    const key = toSigningKey(vector.sharedKey)
    const body = Buffer.from(vector.body, 'utf8')
    const { webhookId: id, webhookTimestamp: at } = vector
    for (const parts of [[body], inParts(body), [...inParts(body), Buffer.alloc(0)]]) {
      assert.equal(hmacHex(key, parts), vector.hmac)
      assert.equal(standardSignature(key, id, at, parts), vector.webhookSignature)
    }
    const library = standardLibrary(vector.sharedKey)
    assert.equal(library.sign(id, new Date(at * 1_000), vector.body), vector.webhookSignature)
  })
}

for (const vector of vectors.rfc4231) {
  test(`G2: ${vector.name}`, () => {
    const key = toSigningKey(Buffer.from(vector.keyHex, 'hex'))
    assert.equal(hmacHex(key, [Buffer.from(vector.dataHex, 'hex')]), vector.hmac)
  })
}

test('G2: a key is its UTF-8 bytes, neither trimmed nor normalised', () => {
  const spellings = ['key', ' key', 'key ', 'KEY', 'caf\u00e9', 'cafe\u0301', '%6bey']
  const body = [Buffer.from('{}')]
  const signatures = spellings.map((key) => hmacHex(toSigningKey(key), body))
  assert.equal(new Set(signatures).size, spellings.length)
})

test('G1: 10,000 of 10,000 random bodies are accepted by the library, and none with a flipped byte', (t) => {
  // Each refusal is an error, whose stack is never read: to describe 20,000 of them took most of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  t.after(() => {
    Error.stackTraceLimit = stackTraceLimit
  })
  const sharedKey = randomBytes(24).toString('base64')
  const key = toSigningKey(sharedKey)
  const library = standardLibrary(sharedKey)
  const timestamp = Math.floor(Date.now() / 1_000)
  const headers = (id: string, signature: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  })
  const random = randomBytes(10_000 * 8)
  for (let n = 0; n < 10_000; n++) {
    // The library parses what it has verified: a JSON string of random characters.
    const length = random.readUInt16LE(n * 8) % 300
    const body = Buffer.from(JSON.stringify(randomBytes(length).toString('latin1')), 'utf8')
    const id = `evt-${n}`
    const signed = headers(id, standardSignature(key, id, timestamp, inParts(body)))
    library.verify(body, signed)
    const at = random.readUInt32LE(n * 8 + 2) % body.length
    body[at] = (body[at] as number) ^ (1 << (n % 8))
    assert.throws(() => library.verify(body, signed), /No matching signature/)
    assert.throws(() => library.verify(body, headers(`${id}x`, signed['webhook-signature'])))
  }
})
