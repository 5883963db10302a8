// Large bodies: however many arrive at once, one is worked on in each iteration of the event loop.

import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { putPayment } from '../../../test/support/injected-calls.ts'
import {
  onboard,
  serveHttp,
  type TestServer,
  type TestServerOptions,
} from '../../../test/support/injected-server.ts'
import { SAMPLE } from '../../../test/support/payment-sample.ts'
import { unknownAccount } from '../../operations/accepting/record-payments.ts'
import { LargeWork } from './large-work.ts'

const { pool } = await cloneDatabase()
const FILE_BYTES = 1_024 * 1_024

/** Counts the iterations of the event loop. */
function countIterations(t: TestContext): { now: number } {
  const iteration = { now: 0 }
  let timer = setImmediate(function tick() {
    iteration.now++
    timer = setImmediate(tick)
  })
  t.after(() => clearImmediate(timer))
  return iteration
}

test('one step in an iteration, in order; a failure rejects and holds nothing up', async (t) => {
  const iteration = countIterations(t)
  const work = new LargeWork()
  const steps = [1, 2, 3].map((number) => work.run(() => [number, iteration.now]))
  const failed = work.run(() => {
    throw new Error('as it may')
  })
  const last = work.run(() => [5, iteration.now])
  await assert.rejects(failed, /as it may/)
  const done = [...(await Promise.all(steps)), await last]
  assert.deepEqual(
    done.map(([number]) => number),
    [1, 2, 3, 5],
  )
  assert.equal(new Set(done.map(([, at]) => at)).size, 4)
})

test('regression: of large payments that arrive together, one is read in each iteration of the loop', async (t) => {
  const { server, accountId } = await serve(t)
  const iteration = countIterations(t)
  const parsedAt: number[] = []
  const parse = JSON.parse
  t.mock.method(JSON, 'parse', (text: string) => {
    if (text.length > FILE_BYTES) parsedAt.push(iteration.now)
    return parse(text)
  })
  const files = Array.from({ length: 6 }, () => randomBytes(FILE_BYTES))
  const answers = await Promise.all(files.map((file) => put(server, accountId, file)))
  for (const { statusCode, body } of answers) assert.equal(statusCode, 404, body)
  assert.equal(parsedAt.length, 6)
  assert.equal(new Set(parsedAt).size, 6, `read in the iterations ${parsedAt.join(' ')}`)
  const hashes = server.entered.map(({ write }) => Buffer.from(write.document.file.hash))
  const expected = files.map((file) => createHash('sha256').update(file).digest())
  assert.deepEqual(hashes.toSorted(Buffer.compare), expected.toSorted(Buffer.compare))
  for (const { write } of server.entered) {
    const { base64, sizeBytes } = write.document.file
    assert.equal(sizeBytes, FILE_BYTES)
    assert.ok(files.some((file) => file.toString('base64') === Buffer.from(base64).toString()))
  }
})

test('a large file that is wrong is reported as a small one is', async (t) => {
  const { server, accountId } = await serve(t)
  const whole = randomBytes(FILE_BYTES).toString('base64')
  for (const [text, code] of [
    [`${whole.slice(0, -8)}!${whole.slice(-7)}`, 'not-base64'],
    [whole.slice(0, -1), 'not-base64'],
    [`${whole}\n`, 'not-base64'],
    [randomBytes(10 * 1024 * 1024 + 1).toString('base64'), 'file-too-large'],
  ] as const) {
    const answer = await put(server, accountId, text)
    assert.equal(answer.statusCode, 400)
    assert.deepEqual(
      answer.json().errors.map(({ pointer, code }: FieldFault) => [pointer, code]),
      [['/document/base64EncodedFile', code]],
    )
  }
  const malformed = await put(server, accountId, `${'a'.repeat(FILE_BYTES)}"`)
  assert.equal(malformed.json().code, 'malformed-json')
})

interface FieldFault {
  pointer: string
  code: string
}

interface Entered {
  write: { document: { file: { base64: Uint8Array; hash: Uint8Array; sizeBytes: number } } }
}

/** A server that takes payments, notes them, and refuses each. */
async function serve(t: TestContext) {
  const entered: Entered[] = []
  const gatherer: TestServerOptions['gatherer'] = {
    enter(change, submitter) {
      entered.push(change as unknown as Entered)
      submitter.refused(unknownAccount())
    },
  }
  const server = await serveHttp(t, pool, { gatherer })
  const { accountId } = await onboard(server)
  return { server: Object.assign(server, { entered }), accountId }
}

function put(server: Pick<TestServer, 'app'>, accountId: string, file: Buffer | string) {
  const { id: _, version: __, ...payment } = SAMPLE as Record<string, unknown>
  const document = { mediaType: 'application/pdf', name: 'a.pdf', base64EncodedFile: 'FILE' }
  const text = typeof file === 'string' ? file : file.toString('base64')
  const body = JSON.stringify({ ...payment, document })
  const spelt = body.replace('FILE', () => text.replaceAll('\n', '\\n'))
  return putPayment(server, accountId, randomUUID(), spelt)
}
