// A stream of payments against a model of the service, which loses requests and answers, and is busy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as step } from 'node:timers/promises'
import fc from 'fast-check'
import { PaybellError } from '../plain/errors.ts'
import { createProducer } from './producer.ts'
import type { PaymentInput } from './put-all.ts'
import type { PutResult } from './send-lines.ts'

/** What happens to a request: it or its answer is lost, it or half of its lines is refused, or nothing. */
type Fate = 'lost' | 'answer-lost' | 'cut' | 'busy' | 'half' | 'fine'

const ACCOUNT = '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70'

function paymentOf(id: string, reference: string, version?: number): PaymentInput {
  return {
    id,
    externalId: id,
    quoteId: 'q',
    amount: { amount: '100.00', currency: 'EUR' },
    reference,
    purposeOfPayment: 'OTHER',
    beneficiaryId: 'b',
    version,
  }
}

/** Keeps payments as the service does: a line that changes its payment makes an event, an old version none. */
class Model {
  readonly events: string[] = []
  readonly requests: string[][] = []
  readonly bodies: string[] = []
  readonly #stored = new Map<string, { reference: string; version: number | undefined }>()
  readonly #fates: Fate[]
  underWay = 0
  underWayMax = 0

  constructor(fates: readonly Fate[] = []) {
    this.#fates = [...fates]
  }

  readonly fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    this.underWayMax = Math.max(this.underWayMax, ++this.underWay)
    await step()
    this.underWay--
    const fate = this.#fates.shift() ?? 'fine'
    if (fate === 'lost') throw new TypeError('fetch failed')
    if (fate === 'busy') return problem(503, 'overloaded')
    const body = new TextDecoder().decode(init?.body as Uint8Array)
    this.bodies.push(body)
    const lines = body.trimEnd().split('\n')
    const ids = lines.map((line) => JSON.parse(line).id as string)
    assert.equal(new Set(ids).size, ids.length, 'a request names each payment once')
    this.requests.push(ids)
    const answers = lines.map((text, at) => this.#record(JSON.parse(text), at, fate))
    if (fate === 'answer-lost') throw new TypeError('fetch failed')
    const text = `${answers.map((answer) => JSON.stringify(answer)).join('\n')}\n`
    return new Response(fate === 'cut' ? text.slice(0, text.length / 2) : text)
  }

  #record({ id, reference, version }: Record<string, unknown>, at: number, fate: Fate) {
    const head = { line: at + 1, id }
    if (fate === 'half' && at % 2 === 1) return { ...head, problem: { code: 'overloaded' } }
    if (reference === 'bad') return { ...head, problem: { code: 'invalid-fields', status: 400 } }
    const stored = this.#stored.get(id as string)
    if (typeof version === 'number' && version <= (stored?.version ?? -1)) {
      return { ...head, event: null, stale: true }
    }
    const isChanged = stored?.reference !== reference
    this.#stored.set(id as string, {
      reference: reference as string,
      version: version as number | undefined,
    })
    if (!isChanged) return { ...head, event: null }
    this.events.push(`${id} ${reference}`)
    return { ...head, event: { id: 'e', type: 'payment.updated', sequence: 1 } }
  }
}

function problem(status: number, code: string, headers = { 'retry-after': '0' }): Response {
  const body = { code, status, title: 't', detail: 'Not now.', type: 'x', instance: 'y' }
  return Response.json(body, { status, headers })
}

function producerOf(fetch: unknown) {
  return createProducer({
    baseUrl: 'https://paybell.example',
    operatorKey: 'k',
    accountId: ACCOUNT,
    fetch: fetch as typeof globalThis.fetch,
    random: () => 0,
  })
}

/** Backoff without waiting. */
function withoutWaiting(t: import('node:test').TestContext) {
  const { setTimeout: later } = globalThis
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) =>
    later(run, ms > 20_000 ? ms : 0),
  )
}

/** Stable, so that the events of one payment keep their order. */
const byPayment = (events: readonly string[]) =>
  [...events].sort((a, b) =>
    a.slice(0, 2) < b.slice(0, 2) ? -1 : a.slice(0, 2) > b.slice(0, 2) ? 1 : 0,
  )

/** Node 20 has no Array.fromAsync. */
async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

test('whatever is lost, and wherever the process ends, each payment makes the events that it makes without loss', async (t) => {
  withoutWaiting(t)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(4), fc.constantFrom('A', 'B')), { minLength: 1, maxLength: 30 }),
      fc.array(fc.constantFrom<Fate>('lost', 'answer-lost', 'cut', 'busy', 'half', 'fine'), {
        maxLength: 12,
      }),
      fc.boolean(),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
      async (writes, fates, hasVersions, linesMax, ends) => {
        const payments = writes.map(([id, reference], at) =>
          paymentOf(`p${id}`, reference, hasVersions ? at : undefined),
        )
        const straight = new Model()
        await collect(producerOf(straight.fetch).putAll(payments, { linesMax }))
        const troubled = new Model(fates)
        const seen: PutResult[] = []
        // Each run ends after so many results, without another word; the next one goes on.
        for (const end of [...ends, Number.POSITIVE_INFINITY]) {
          const last = seen.length + end
          const options = { linesMax, from: seen.length }
          for await (const result of producerOf(troubled.fetch).putAll(payments, options)) {
            seen.push(result)
            if (seen.length >= last) break
          }
        }
        assert.deepEqual(
          seen.map(({ index }) => index),
          payments.map((_, index) => index),
        )
        assert.deepEqual(byPayment(troubled.events), byPayment(straight.events))
        assert.ok(troubled.underWayMax <= 1)
      },
    ),
    { numRuns: 60 },
  )
})

test('a bad payment has its problem in its place, and its neighbours are recorded', async () => {
  const model = new Model()
  const payments = [paymentOf('a', '1'), paymentOf('b', 'bad'), paymentOf('c', '1')]
  const results = await collect(producerOf(model.fetch).putAll(payments))
  assert.deepEqual(
    results.map(({ id, problem }) => [id, problem?.code]),
    [
      ['a', undefined],
      ['b', 'invalid-fields'],
      ['c', undefined],
    ],
  )
  assert.equal(model.requests.length, 1)
})

test('rising versions of one payment share a batch; without them each waits for the result of the one before', async () => {
  const batches = async (versions: readonly (number | undefined)[]) => {
    const model = new Model()
    const payments = versions.map((version, at) => paymentOf('a', `${at}`, version))
    let results = 0
    const before: number[] = []
    const fetch = (url: unknown, init?: RequestInit) => {
      before.push(results)
      return model.fetch(url, init)
    }
    for await (const _ of producerOf(fetch).putAll(payments)) results++
    return before
  }
  assert.deepEqual(await batches([1, 2, 3]), [0, 0, 0])
  assert.deepEqual(await batches([undefined, undefined, undefined]), [0, 1, 2])
  assert.deepEqual(await batches([2, 1]), [0, 1])
})

test('it reads ahead by one batch and no further, however long the source is', async () => {
  let read = 0
  let handled = 0
  let ahead = 0
  function* source() {
    for (let at = 0; at < 2_000; at++) {
      read++
      ahead = Math.max(ahead, read - handled)
      yield paymentOf(`p${at}`, '1')
    }
  }
  for await (const _ of producerOf(new Model().fetch).putAll(source(), { linesMax: 100 })) handled++
  assert.equal(handled, 2_000)
  assert.ok(ahead <= 202, `${ahead} were read and not handled`)
})

test('a slow source is not waited for: each result comes before the next payment', async () => {
  let handled = 0
  async function* source() {
    for (let at = 0; at < 3; at++) {
      yield paymentOf(`p${at}`, '1')
      // The source has nothing more until the result of this one was seen.
      while (handled <= at) await step()
    }
  }
  for await (const { index } of producerOf(new Model().fetch).putAll(source())) {
    assert.equal(index, handled)
    handled++
  }
  assert.equal(handled, 3)
})

test('amounts stay exact; a number is refused, because its digits may be gone', async () => {
  const model = new Model()
  const producer = producerOf(model.fetch)
  const withAmount = (amount: unknown) => ({
    ...paymentOf('a', '1'),
    amount: { amount: amount as string, currency: 'EUR' },
  })
  await collect(producer.putAll([withAmount('9007199254740993.10')]))
  assert.match(model.bodies[0] as string, /"amount":\{"amount":9007199254740993\.10,/)
  // The service says what is wrong with it.
  await collect(producer.putAll([withAmount('12,50')]))
  assert.match(model.bodies[1] as string, /"amount":"12,50"/)
  await assert.rejects(collect(producer.putAll([withAmount(0.1 + 0.2)])), TypeError)
  await assert.rejects(producer.put(withAmount(12.5)), /may have lost digits/)
})

test('Retry-After is kept to, and reported', async (t) => {
  withoutWaiting(t)
  const model = new Model()
  const waits: unknown[] = []
  let calls = 0
  const fetch = (url: unknown, init?: RequestInit) =>
    ++calls === 1
      ? Promise.resolve(problem(429, 'too-many-requests', { 'retry-after': '7' }))
      : model.fetch(url, init)
  const producer = producerOf(fetch)
  await collect(producer.putAll([paymentOf('a', '1')], { onWait: (wait) => waits.push(wait) }))
  assert.deepEqual(waits, [{ ms: 7_125, reason: 'Not now. (429 too-many-requests)' }])
})

test('what is known is reported before it throws: after the patience, or for what no waiting mends', async (t) => {
  withoutWaiting(t)
  const failsAfter = (good: number, answer: () => Response) => {
    const model = new Model()
    let calls = 0
    return (url: unknown, init?: RequestInit) =>
      ++calls <= good ? model.fetch(url, init) : Promise.resolve(answer())
  }
  const payments = [paymentOf('a', '1', 1), paymentOf('b', '1', 1), paymentOf('a', '2', 2)]
  const run = async (fetch: unknown, patienceMs = 60_000) => {
    const seen: number[] = []
    const error = await (async () => {
      for await (const { index } of producerOf(fetch).putAll(payments, { patienceMs })) {
        seen.push(index)
      }
    })().catch((error) => error)
    return { seen, error }
  }
  // The first layer of the batch is known, the second is not.
  const refused = await run(failsAfter(1, () => problem(403, 'role-too-low')))
  assert.deepEqual(refused.seen, [0, 1])
  assert.ok(refused.error instanceof PaybellError)
  assert.equal(refused.error.code, 'role-too-low')
  const away = await run(
    failsAfter(1, () => problem(503, 'database-away')),
    0,
  )
  assert.deepEqual([away.seen, away.error.code], [[0, 1], 'database-away'])
  const foreign = await run(
    failsAfter(0, () => new Response('<html>')),
    0,
  )
  assert.deepEqual([foreign.seen, foreign.error.code], [[], 'unexpected-answer'])
})

test('an error of the source comes after the results of what it gave; a break closes it', async () => {
  let isClosed = false
  async function* failing() {
    try {
      yield paymentOf('a', '1')
      yield paymentOf('b', '1')
      throw new Error('the file ends here')
    } finally {
      isClosed = true
    }
  }
  const seen: number[] = []
  await assert.rejects(async () => {
    for await (const { index } of producerOf(new Model().fetch).putAll(failing())) seen.push(index)
  }, /the file ends here/)
  assert.deepEqual(seen, [0, 1])
  isClosed = false
  for await (const _ of producerOf(new Model().fetch).putAll(failing(), { linesMax: 1 })) break
  while (!isClosed) await step()
})

test('a signal ends it, also while the source is silent', async () => {
  const stop = new AbortController()
  async function* silent(): AsyncGenerator<PaymentInput> {
    yield paymentOf('a', '1')
    await new Promise(() => {})
  }
  const reason = new Error('enough')
  const seen: number[] = []
  await assert.rejects(async () => {
    const options = { signal: stop.signal }
    for await (const { index } of producerOf(new Model().fetch).putAll(silent(), options)) {
      seen.push(index)
      setImmediate(() => stop.abort(reason))
    }
  }, reason)
  assert.deepEqual(seen, [0])
})

test('what is missing is said at once', async () => {
  const options = { baseUrl: 'https://paybell.example', operatorKey: 'k' }
  assert.throws(() => createProducer({ ...options, operatorKey: '' }), /operatorKey/)
  assert.throws(() => createProducer({ ...options, baseUrl: 'http://paybell.example' }), /https/)
  const producer = createProducer(options)
  await assert.rejects(producer.put(paymentOf('a', '1')), /accountId is missing/)
  await assert.rejects(collect(producer.putAll([], { linesMax: 0 })), /linesMax must be between/)
})
