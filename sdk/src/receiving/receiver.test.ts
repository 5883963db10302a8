import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createReceiver, type ReceiverOptions } from './receiver.ts'
import { createMemorySeen, type SeenStore } from './seen.ts'
import { signForTest, type TestCallback } from './sign-for-test.ts'

const KEY = 'only-we-two-know-this'

function setUp(options: Partial<ReceiverOptions> = {}) {
  const handled: string[] = []
  const errors: unknown[] = []
  const refused: string[] = []
  const receiver = createReceiver({
    sharedKey: KEY,
    onPayment: (payment, { sequence }) => {
      handled.push(`${payment.reference} ${sequence}`)
    },
    onError: (error) => errors.push(error),
    onRefused: ({ code }) => refused.push(code),
    ...options,
  })
  const post = async (callback: Partial<TestCallback> = {}) => {
    const signed = await signForTest({
      sharedKey: KEY,
      payment: { reference: 'R' },
      ...callback,
    })
    return receiver(signed.toRequest())
  }
  return { receiver, post, handled, errors, refused }
}

/** A promise that the test settles. */
function gate() {
  let open = () => {}
  let fail = (_error: Error) => {}
  const promise = new Promise<void>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

/** Resolves when a request waits for another: the receiver sets its only timer then. */
function watchLine(t: TestContext) {
  const setTimer = globalThis.setTimeout
  let joined = () => {}
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    joined()
    return setTimer(run, ms)
  })
  return {
    next: () =>
      new Promise<void>((resolve) => {
        joined = resolve
      }),
  }
}

test('a signed callback is handled and answered with exactly 200 and no body', async () => {
  const { post, handled } = setUp()
  const response = await post()
  assert.equal(response.status, 200)
  assert.equal(await response.text(), '')
  assert.deepEqual(handled, ['R 1'])
})

test('the same event again is answered 200 and handled once', async () => {
  const { post, handled } = setUp()
  for (let n = 0; n < 3; n++) assert.equal((await post({ id: 'e' })).status, 200)
  assert.deepEqual(handled, ['R 1'])
})

test('an update that comes after a newer one is answered 200 and dropped', async () => {
  const { post, handled } = setUp()
  assert.equal((await post({ id: 'e2', sequence: 2 })).status, 200)
  assert.equal((await post({ id: 'e1', sequence: 1 })).status, 200)
  assert.equal((await post({ id: 'e3', sequence: 3 })).status, 200)
  const id = '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01'
  await post({ id: 'other', sequence: 1, payment: { id, reference: 'another payment' } })
  assert.deepEqual(handled, ['R 2', 'R 3', 'another payment 1'])
})

test('a bad signature is 401 with the reason, and never reaches the handler', async () => {
  const { post, handled, refused } = setUp()
  const response = await post({ sharedKey: 'another key' })
  assert.equal(response.status, 401)
  const body = (await response.json()) as { error: string; detail: string }
  assert.equal(body.error, 'signature-mismatch')
  assert.ok(!JSON.stringify(body).includes(KEY))
  assert.equal((await post({ at: new Date(0) })).status, 401)
  assert.equal((await post({ body: 'no payment' })).status, 400)
  assert.deepEqual(handled, [])
  assert.deepEqual(refused, ['signature-mismatch', 'timestamp-too-old', 'malformed-body'])
})

test('when the handler throws, the answer is 500 and the retry is handled', async () => {
  let fails = true
  const { post, errors } = setUp({
    onPayment: () => {
      if (fails) throw new Error('the database is away')
    },
  })
  const response = await post({ id: 'e', sequence: 5 })
  assert.equal(response.status, 500)
  assert.ok(!(await response.text()).includes('database'), 'our inner life stays inside')
  assert.match(String(errors[0]), /the database is away/)
  fails = false
  assert.equal((await post({ id: 'e', sequence: 5 })).status, 200)
})

test('two of one event at once: the second waits, and is answered as the first ends', async (t) => {
  const { promise, open } = gate()
  const waiting = watchLine(t).next()
  let runs = 0
  const { post } = setUp({
    onPayment: () => {
      runs++
      return promise
    },
  })
  const both = [post({ id: 'e' }), post({ id: 'e' })]
  await waiting
  open()
  assert.deepEqual(
    (await Promise.all(both)).map(({ status }) => status),
    [200, 200],
  )
  assert.equal(runs, 1)
})

test('two of one event at once, and the first fails: the second does the work', async (t) => {
  const { promise, fail } = gate()
  const entered = gate()
  const waiting = watchLine(t).next()
  let runs = 0
  const { post } = setUp({
    onPayment: () => {
      entered.open()
      return runs++ === 0 ? promise : undefined
    },
  })
  const both = [post({ id: 'e' }), post({ id: 'e' })]
  await Promise.all([entered.promise, waiting])
  fail(new Error('no'))
  const statuses = (await Promise.all(both)).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [200, 500])
  assert.equal(runs, 2)
})

test('one payment is handled one update at a time; another payment does not wait', async (t) => {
  const { promise, open } = gate()
  const entered = gate()
  const waiting = watchLine(t).next()
  const begun: string[] = []
  const { post } = setUp({
    onPayment: (payment, { sequence }) => {
      begun.push(`${payment.reference} ${sequence}`)
      entered.open()
      return sequence === 1 && payment.reference === 'R' ? promise : undefined
    },
  })
  const first = post({ sequence: 1 })
  await entered.promise
  const second = post({ sequence: 2 })
  await waiting
  const id = '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01'
  await post({ payment: { id, reference: 'other' } })
  assert.deepEqual(begun, ['R 1', 'other 1'])
  open()
  await Promise.all([first, second])
  assert.deepEqual(begun, ['R 1', 'other 1', 'R 2'])
})

test('a request that waits too long is asked to come back, and overtakes no other', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const line = watchLine(t)
  const { promise, open } = gate()
  const entered = gate()
  let running = 0
  const { post } = setUp({
    onPayment: async () => {
      assert.equal(++running, 1)
      entered.open()
      await promise
      running--
    },
  })
  const first = post({ sequence: 1 })
  await entered.promise
  let waiting = line.next()
  const second = post({ sequence: 2 })
  await waiting
  t.mock.timers.tick(10_000)
  const answer = await second
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('retry-after'), '1')
  waiting = line.next()
  const third = post({ sequence: 3 })
  await waiting
  open()
  assert.deepEqual([(await first).status, (await third).status], [200, 200])
})

test('a test send never reaches onPayment, and is not remembered', async () => {
  const tests: string[] = []
  const { post, handled } = setUp({ onTest: ({ id }) => tests.push(id) })
  assert.equal((await post({ id: 'e', isTest: true })).status, 200)
  assert.equal((await post({ id: 'e', isTest: true })).status, 200)
  assert.deepEqual(tests, ['e', 'e'])
  assert.deepEqual(handled, [])
  await post({ id: 'e' })
  assert.deepEqual(handled, ['R 1'])
})

test('a replay is a duplicate like any other, unless replays are to be handled', async () => {
  const careful = setUp()
  await careful.post({ id: 'e1', sequence: 1 })
  await careful.post({ id: 'e1', sequence: 1, isReplay: true })
  assert.deepEqual(careful.handled, ['R 1'])
  // One that was never handled is new.
  await careful.post({ id: 'e2', sequence: 2, isReplay: true })
  assert.deepEqual(careful.handled, ['R 1', 'R 2'])

  const eager = setUp({ handleReplays: true })
  await eager.post({ id: 'e2', sequence: 2 })
  await eager.post({ id: 'e1', sequence: 1, isReplay: true })
  await eager.post({ id: 'e2', sequence: 2, isReplay: true })
  await eager.post({ id: 'e2', sequence: 2 })
  assert.deepEqual(eager.handled, ['R 2', 'R 1', 'R 2'])
})

test('a body over the limit is 413, whether or not it says so', async () => {
  const { receiver } = setUp({ bodyBytesMax: 100 })
  const { headers, body } = await signForTest({ sharedKey: KEY })
  const request = (more: Record<string, string>) =>
    receiver(
      new Request('http://localhost/', { method: 'POST', headers: { ...headers, ...more }, body }),
    )
  assert.equal((await request({})).status, 413)
  assert.equal((await request({ 'content-length': '1000000' })).status, 413)
})

test('a document of 10 MiB fits', async () => {
  const { post, handled } = setUp()
  const base64EncodedFile = 'A'.repeat(Math.ceil((10 * 1024 * 1024) / 3) * 4)
  const document = { mediaType: 'application/pdf', name: 'a.pdf', base64EncodedFile }
  assert.equal((await post({ payment: { reference: 'R', document } })).status, 200)
  assert.deepEqual(handled, ['R 1'])
})

test('another method is 405', async () => {
  const { receiver } = setUp()
  const response = await receiver(new Request('http://localhost/'))
  assert.equal(response.status, 405)
  assert.equal(response.headers.get('allow'), 'POST')
})

test('the key may be fetched, and be several; a failure to fetch it is ours: 500', async () => {
  const { post, handled } = setUp({ sharedKey: async () => ['next key', KEY] })
  await post()
  await post({ sharedKey: 'next key', sequence: 2 })
  assert.deepEqual(handled, ['R 1', 'R 2'])
  const broken = setUp({
    sharedKey: () => {
      throw new Error('the vault is closed')
    },
  })
  assert.equal((await broken.post()).status, 500)
  assert.match(String(broken.errors[0]), /vault/)
})

test('a receiver without a key or a handler does not start', () => {
  const onPayment = () => {}
  for (const sharedKey of [undefined, '', []]) {
    assert.throws(() => createReceiver({ sharedKey: sharedKey as string, onPayment }), /sharedKey/)
  }
  assert.throws(() => createReceiver({ sharedKey: KEY } as ReceiverOptions), /onPayment/)
})

test('a store that is busy elsewhere, fails or answers nonsense never loses an event', async () => {
  const store = (changes: Partial<SeenStore>): SeenStore => ({ ...createMemorySeen(), ...changes })
  const away = () => {
    throw new Error('away')
  }
  const busy = setUp({ seen: store({ claim: () => 'busy' }) })
  assert.equal((await busy.post()).status, 503)
  const claim = setUp({ seen: store({ claim: away }) })
  assert.equal((await claim.post()).status, 500)
  const nonsense = setUp({ seen: store({ claim: () => undefined as never }) })
  assert.equal((await nonsense.post()).status, 500)
  assert.deepEqual([busy.handled, claim.handled, nonsense.handled], [[], [], []])
  // The work is done, only not noted down: a retry would do it twice.
  const settle = setUp({ seen: store({ settle: away }) })
  assert.equal((await settle.post()).status, 200)
  assert.equal(settle.errors.length, 1)
})

test('the memory of the default store has an end', () => {
  const seen = createMemorySeen({ entriesMax: 3 })
  const event = (n: number) => ({ id: `e${n}`, paymentId: `p${n}`, sequence: 1 })
  for (let n = 1; n <= 4; n++) {
    assert.equal(seen.claim(event(n)), 'new')
    seen.settle(event(n))
  }
  assert.equal(seen.claim(event(2)), 'duplicate')
  assert.equal(seen.claim({ ...event(2), id: 'another' }), 'stale', 'not above what was handled')
  assert.equal(seen.claim(event(1)), 'new')
  assert.equal(seen.claim(event(1)), 'busy')
  seen.release(event(1))
  assert.equal(seen.claim(event(1)), 'new')
})
