// No malformed request makes a 5xx of the routes where payments come in (P1, P5, P7).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { limitOf } from '../../test/support/busy-machine.ts'
import { cloneDatabase } from '../../test/support/database.ts'
import { OPERATOR_KEY, onboard, serveHttp } from '../../test/support/injected-server.ts'
import { SAMPLE, sampleBody } from '../../test/support/payment-sample.ts'

const { pool } = await cloneDatabase()
const { app, ...server } = await serveHttp({ after }, pool)
const { accountId } = await onboard({ app, ...server })
const authorization = `Bearer ${OPERATOR_KEY}`

type Bytes = string | Buffer

function headers(type: string): Record<string, string> {
  return { authorization, accountid: accountId, 'content-type': type }
}

async function put(payload: Bytes, type = 'application/json', id: string = randomUUID()) {
  const url = `/operator/v1/payments/${id}`
  const answer = await app.inject({ method: 'PUT', url, headers: headers(type), payload })
  return { status: answer.statusCode, text: answer.body, code: answer.json().code }
}

async function post(payload: Bytes) {
  const url = '/operator/v1/payments/batch'
  const type = 'application/x-ndjson'
  const answer = await app.inject({ method: 'POST', url, headers: headers(type), payload })
  return { status: answer.statusCode, text: answer.body }
}

function get(path: string) {
  return app.inject({ url: `/operator/v1${path}`, headers: { authorization } })
}

function withText(field: string, json: string): string {
  return String(sampleBody({ id: undefined, [field]: 'MARK' })).replace('"MARK"', json)
}

test('P5: U+0000 and lone surrogates in any string are 400 with their pointer', async () => {
  for (const field of ['externalId', 'reference', 'documentReference']) {
    for (const json of ['"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"x\\udfff"']) {
      const answer = await put(withText(field, json))
      assert.equal(answer.status, 400, `${field} ${json}`)
      assert.match(answer.text, new RegExp(`"pointer":"/${field}"`))
    }
  }
  const nested = [
    { status: { state: 'DUE', reason: '\u0000' } },
    { document: { ...SAMPLE.document, name: '\u0000' } },
    { document: { ...SAMPLE.document, mediaType: 'a/b;\u0000' } },
  ]
  for (const change of nested) {
    assert.equal((await put(sampleBody({ id: undefined, ...change }))).status, 400)
  }
})

test('P5: invalid UTF-8, a byte order mark, deep nesting, a million members: 400 or 413, and quickly', async () => {
  const valid = sampleBody({ id: undefined })
  const bodies: [string, Bytes][] = [
    [
      'invalid UTF-8',
      Buffer.concat([valid.subarray(0, 40), Buffer.from([0xc3, 0x28]), valid.subarray(40)]),
    ],
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), valid])],
    ['UTF-16', Buffer.from(`\ufeff${valid}`, 'utf16le')],
    ['deep arrays', '['.repeat(100_000)],
    ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a million members', `{${Array.from({ length: 1_000_000 }, (_, n) => `"${n}":0`).join()}}`],
    ['empty', ''],
    ['not an object', '[]'],
    ['null', 'null'],
    ['two values', '{}{}'],
    ['trailing comma', '{"a":1,}'],
  ]
  for (const [name, bytes] of bodies) {
    const startedAt = performance.now()
    const { status } = await put(bytes)
    assert.ok(status === 400 || status === 413, `${name}: ${status}`)
    assert.ok(performance.now() - startedAt < limitOf(3_000), name)
  }
})

test('P5: __proto__ and constructor pollute nothing; of duplicate members the last one counts', async () => {
  const text = String(sampleBody({ id: undefined, version: undefined }))
  const polluted = text.replace(
    '{',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},',
  )
  const answer = await put(polluted)
  assert.equal(answer.status, 400)
  assert.deepEqual(
    JSON.parse(answer.text).errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/__proto__', '/constructor'],
  )
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  const twice = text.replace(
    '"amount":{',
    '"amount":{"amount":1,"currency":"USD"},"amount":{"amount":2,',
  )
  assert.match((await put(twice)).text, /"amount":\{"amount":12345.67,"currency":"EUR"\}/)
  // Only through the prototype would these fields be there.
  const inherited = await put(`{"__proto__":${text}}`)
  assert.equal(inherited.status, 400)
})

test('P7: other content types are 415', async () => {
  const types = ['text/plain', 'application/json-patch+json', 'application/json; charset=utf-16']
  for (const type of [...types, 'application/x-ndjson', 'multipart/form-data; boundary=x']) {
    assert.equal((await put(sampleBody({ id: undefined }), type)).status, 415, type)
  }
})

// What comes without end needs a socket to come through.
const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })

/** Sends chunks until the answer comes; returns it and how much was sent. */
function pour(
  path: string,
  method: string,
  type: string,
): Promise<{ status: number; sentBytes: number }> {
  return new Promise((resolve, reject) => {
    const chunk = Buffer.alloc(64 * 1024, ' ')
    let sentBytes = 0
    let isDone = false
    const call = request(`${baseUrl}${path}`, { method, headers: headers(type) })
    call.on('response', (response) => {
      isDone = true
      response.resume()
      resolve({ status: response.statusCode ?? 0, sentBytes })
      call.destroy()
    })
    call.on('error', (error) => (isDone ? undefined : reject(error)))
    const write = () => {
      while (!isDone && sentBytes < 200 * 1024 * 1024) {
        sentBytes += chunk.length
        if (!call.write(chunk)) {
          call.once('drain', write)
          return
        }
      }
    }
    write()
  })
}

test('P1: a payment and a batch without end are 413 before all is read, and memory stays flat', async () => {
  const before = process.memoryUsage.rss()
  for (let n = 0; n < 2; n++) {
    const path = `/operator/v1/payments/${randomUUID()}`
    const { status, sentBytes } = await pour(path, 'PUT', 'application/json')
    assert.equal(status, 413)
    assert.ok(sentBytes < 40 * 1024 * 1024, `${sentBytes}`)
  }
  const batch = await pour('/operator/v1/payments/batch', 'POST', 'application/x-ndjson')
  assert.equal(batch.status, 413)
  assert.ok(batch.sentBytes < 100 * 1024 * 1024, `${batch.sentBytes}`)
  const grownBy = process.memoryUsage.rss() - before
  assert.ok(grownBy < 200 * 1024 * 1024, `${grownBy}`)
  assert.equal((await put(sampleBody({ id: undefined }))).status, 201, 'the service goes on')
})

test('P1: an announced size over the limit is 413 at once', async () => {
  const status = await new Promise((resolve, reject) => {
    const call = request(`${baseUrl}/operator/v1/payments/${randomUUID()}`, {
      method: 'PUT',
      headers: { ...headers('application/json'), 'content-length': String(1e9) },
    })
    call.on('response', (response) => {
      resolve(response.statusCode)
      call.destroy()
    })
    call.on('error', reject)
    call.flushHeaders()
  })
  assert.equal(status, 413)
})

// A payment with some member, at any depth, replaced by anything, written with odd escapes.
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u0000', '\ud800', '-0', 1e308, -1, 2 ** 53, '', null, [], {}, 'PAID', 'NaN'),
)
const spoiled = fc
  .tuple(
    fc.constantFrom('', ...Object.keys(SAMPLE), 'accountId', '__proto__'),
    fc.constantFrom('', 'state', 'amount', 'currency', 'name', 'base64EncodedFile'),
    anything,
  )
  .map(([member, inner, value]) => {
    const payment: Record<string, unknown> = structuredClone(SAMPLE)
    if (member === '') return JSON.stringify(value)
    if (inner === '') payment[member] = value
    else payment[member] = { ...Object(payment[member]), [inner]: value }
    return JSON.stringify({ ...payment, [member]: payment[member] })
  })
const bytes = fc.oneof(
  spoiled.map((text) => Buffer.from(text)),
  fc
    .tuple(spoiled, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }))
    .map(([text, at, noise]) => {
      const buffer = Buffer.from(text)
      return Buffer.concat([
        buffer.subarray(0, at % buffer.length),
        noise,
        buffer.subarray(at % buffer.length),
      ])
    }),
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
)

test('no malformed payment makes a 5xx, alone or as a line of a batch', async () => {
  const { id } = SAMPLE
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const single = await put(body, 'application/json', id)
      assert.ok(single.status < 500, single.text)
      const batch = await post(body)
      assert.equal(batch.status, 200, batch.text)
      assert.doesNotMatch(batch.text, /"status":5\d\d/)
    }),
    { numRuns: 200 },
  )
})

test('no odd path or query makes a 5xx', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '%00', '%ff', '0', '-1', '1e9'),
  )
  await fc.assert(
    fc.asyncProperty(text, text, async (segment, value) => {
      const encoded = encodeURIComponent(value.toWellFormed())
      const id = encodeURIComponent(segment.toWellFormed())
      for (const path of [
        `/payments/${id}`,
        `/payments/${id}/events?after=${encoded}`,
        `/payments?limit=${encoded}`,
        `/payments?after=${encoded}`,
        `/payments?accountId=${encoded}&clientId=${id}`,
        `/payments/${SAMPLE.id}/events?limit=1&after=${Buffer.from(`[${value}]`).toString('base64url')}`,
        `/payments?after=${Buffer.from(`["${value}","${segment}"]`).toString('base64url')}`,
      ]) {
        const { statusCode, body } = await get(path)
        assert.ok(statusCode < 500, `${path}: ${statusCode} ${body}`)
      }
    }),
    { numRuns: 40 },
  )
})

test('a forged cursor is 400, whatever is in it', async () => {
  const forged = ['[]', '{}', '[1]', '["1","x"]', `["1","${'-'.repeat(36)}"]`, '[1,{"toString":1}]']
  forged.push('["999999999999999","5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01",1]', '[1e30,null]')
  for (const text of forged) {
    const { statusCode } = await get(`/payments?after=${Buffer.from(text).toString('base64url')}`)
    assert.equal(statusCode, 400, text)
  }
})
