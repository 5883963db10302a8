// Payments in (decisions §6 and §9.2), over real sockets on the whole service: what is answered, what is
// kept, and what events come of it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { addAccount, addClient, startPaybell } from '../../../../test/support/paybell.ts'
import { PLAIN, SAMPLE, sampleBody } from '../../../../test/support/payment-sample.ts'

const paybell = await startPaybell({ after })
const other = await addAccount(paybell, paybell)
const stranger = await addClient(paybell, 'Stranger')

interface Written {
  payment: Record<string, unknown>
  event: { id: string; type: string; sequence: number } | null
  stale?: true
}

interface Answer extends Written {
  status: number
  text: string
  code?: string
  errors?: { pointer: string; code: string }[]
}

type Body = string | Buffer<ArrayBuffer>

/** The sample without version and document, which most tests have no use for. */
function body(changes: Record<string, unknown> = {}): Body {
  return sampleBody({ id: undefined, ...PLAIN, ...changes })
}

async function put(
  id: string,
  payment: Body = body(),
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await paybell.caller.putPayment(id, payment, { headers })
  const text = await answer.text()
  return { ...JSON.parse(text), status: answer.status, text }
}

async function get(path: string): Promise<string> {
  const answer = await paybell.caller.operate('GET', path)
  assert.equal(answer.status, 200, path)
  return answer.text()
}

/** A payment brought to this state by allowed moves. */
async function paymentIn(state: string): Promise<string> {
  const id = randomUUID()
  const path = state === 'PAID' ? ['DUE', 'PAID'] : [state]
  for (const step of path) {
    const { status } = await put(id, body({ status: { state: step } }))
    assert.ok(status === 200 || status === 201)
  }
  return id
}

const STATES = ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID', 'CANCELLED'] as const
const MOVES: Record<string, readonly string[]> = {
  DRAFT: ['PENDING_APPROVAL', 'DUE', 'CANCELLED'],
  PENDING_APPROVAL: ['DRAFT', 'DUE', 'CANCELLED'],
  DUE: ['PAID', 'CANCELLED'],
  PAID: [],
  CANCELLED: [],
}
const KINDS: Record<string, string> = {
  DRAFT: 'payment.updated',
  PENDING_APPROVAL: 'payment.pending_approval',
  DUE: 'payment.due',
  PAID: 'payment.paid',
  CANCELLED: 'payment.cancelled',
}

describe('moves and kinds (§6.1, §6.2)', () => {
  test('every allowed move makes an event of its kind, every other is a 409 and changes nothing', async () => {
    for (const from of STATES) {
      for (const to of STATES) {
        if (from === to) continue
        const id = await paymentIn(from)
        const before = await get(`/payments/${id}`)
        const answer = await put(id, body({ status: { state: to } }))
        if (MOVES[from]?.includes(to)) {
          assert.equal(answer.status, 200, `${from} to ${to}`)
          assert.equal(answer.event?.type, KINDS[to], `${from} to ${to}`)
        } else {
          assert.equal(answer.status, 409, `${from} to ${to}`)
          assert.equal(answer.code, 'forbidden-move')
          assert.equal(await get(`/payments/${id}`), before)
        }
      }
    }
  })

  test('the first write is payment.created, whatever its state', async () => {
    for (const state of STATES) {
      const answer = await put(randomUUID(), body({ status: { state } }))
      assert.equal(answer.status, 201)
      assert.deepEqual(
        { type: answer.event?.type, sequence: answer.event?.sequence },
        { type: 'payment.created', sequence: 1 },
      )
      assert.equal(answer.payment.complete, state === 'PAID' || state === 'CANCELLED')
    }
  })

  test('complete is derived, whatever is said; completedAt is set once, on entering a final state', async () => {
    const id = randomUUID()
    const due = await put(id, body({ complete: true, completedAt: '2020-01-01T00:00:00Z' }))
    assert.equal(due.payment.complete, false)
    assert.equal(due.payment.completedAt, undefined)
    const paid = await put(id, body({ status: { state: 'PAID' }, complete: false }))
    assert.equal(paid.payment.complete, true)
    assert.match(String(paid.payment.completedAt), /^\d{4}-\d\d-\d\dT.*Z$/)
    const later = await put(
      id,
      body({ status: { state: 'PAID' }, reference: 'x', completedAt: '2021-01-01T00:00:00Z' }),
    )
    assert.equal(later.event?.type, 'payment.updated')
    assert.equal(later.payment.completedAt, paid.payment.completedAt)
    const given = await put(
      randomUUID(),
      body({ status: { state: 'CANCELLED' }, completedAt: '2022-02-02T02:02:02+02:00' }),
    )
    assert.equal(given.payment.completedAt, '2022-02-02T02:02:02+02:00')
  })

  test('in a final state a receipt may still be attached: payment.updated', async () => {
    const id = await paymentIn('PAID')
    const { document } = SAMPLE
    const answer = await put(id, body({ status: { state: 'PAID' }, document }))
    assert.equal(answer.event?.type, 'payment.updated')
    assert.deepEqual(answer.payment.document, { mediaType: 'application/pdf', name: 'receipt.pdf' })
  })
})

describe('a write is the whole payment (§6.2)', () => {
  test('a write that changes nothing makes no event', async () => {
    const id = randomUUID()
    const first = await put(id, body({ document: SAMPLE.document }))
    const again = await put(id, body({ document: SAMPLE.document }))
    assert.equal(again.status, 200)
    assert.equal(again.event, null)
    assert.deepEqual(again.payment, first.payment)
    assert.equal(again.stale, undefined)
  })

  test('optional fields that are left out are gone, but for status and createdAt', async () => {
    const id = randomUUID()
    const first = await put(id, body({ status: { state: 'DUE', reason: 'why' } }))
    assert.equal(first.payment.documentReference, 'DOC-17')
    const second = await put(
      id,
      body({ status: undefined, documentReference: undefined, createdAt: '1999-01-01T00:00:00Z' }),
    )
    assert.equal(second.event?.type, 'payment.updated')
    assert.equal(second.payment.documentReference, undefined)
    assert.deepEqual(second.payment.status, { state: 'DUE', reason: 'why' })
    assert.equal(second.payment.createdAt, SAMPLE.createdAt)
    const third = await put(id, body({ status: { state: 'DUE' }, documentReference: undefined }))
    assert.deepEqual(
      third.payment.status,
      { state: 'DUE' },
      'a reason left out of a status is gone',
    )
  })

  test('status left out of the first write is DRAFT, createdAt the time of acceptance', async () => {
    const before = Date.now()
    const { payment } = await put(randomUUID(), body({ status: undefined, createdAt: undefined }))
    assert.deepEqual(payment.status, { state: 'DRAFT' })
    const createdMs = Date.parse(String(payment.createdAt))
    assert.ok(createdMs > before - 5_000 && createdMs < Date.now() + 5_000)
  })

  test('each changed field makes an event, and sequences count 1, 2, 3', async () => {
    const id = randomUUID()
    await put(id)
    const changes: Record<string, unknown>[] = [
      { status: { state: 'DUE', reason: 'another' } },
      { externalId: 'other' },
      { quoteId: randomUUID() },
      { amount: { amount: 1, currency: 'EUR' } },
      { amount: { amount: 12345.67, currency: 'USD' } },
      { reference: 'other' },
      { purposeOfPayment: 'OTHER' },
      { beneficiaryId: randomUUID() },
      { documentReference: 'other' },
      { document: SAMPLE.document },
      { document: { ...SAMPLE.document, base64EncodedFile: 'JVBERi0x' } },
    ]
    for (const [index, change] of changes.entries()) {
      const { event } = await put(id, body(change))
      assert.deepEqual(
        { type: event?.type, sequence: event?.sequence },
        { type: 'payment.updated', sequence: index + 2 },
        JSON.stringify(change),
      )
    }
    const { items } = JSON.parse(await get(`/payments/${id}/events?limit=5`))
    assert.deepEqual(
      items.map(({ sequence }: { sequence: number }) => sequence),
      [12, 11, 10, 9, 8],
    )
  })
})

describe('versions (§9.2)', () => {
  test('F15: an older version after a newer one is stale: 200, no event, judged before the move', async () => {
    const id = randomUUID()
    await put(id, body({ version: 5, status: { state: 'DUE' } }))
    await put(id, body({ version: 6, status: { state: 'PAID' } }))
    for (const version of [0, 5, 6]) {
      const answer = await put(id, body({ version, status: { state: 'DRAFT' }, reference: 'old' }))
      assert.equal(answer.status, 200)
      assert.equal(answer.event, null)
      assert.equal(answer.stale, true)
      assert.deepEqual(answer.payment.status, { state: 'PAID' })
    }
  })

  test('F15: shuffled versions end in the highest one, with one event for each that rose', async () => {
    const id = randomUUID()
    const versions = [3, 1, 7, 2, 9, 4, 8, 10, 6, 5]
    let highest = 0
    for (const version of versions) {
      const answer = await put(id, body({ version, reference: `v${version}` }))
      assert.equal(answer.event !== null, version > highest, `${version}`)
      highest = Math.max(highest, version)
    }
    const payment = JSON.parse(await get(`/payments/${id}`))
    assert.equal(payment.reference, 'v10')
    assert.equal(payment.version, 10)
    assert.equal(payment.sequence, 4)
  })

  test('a higher version that changes nothing makes no event, and raises the stored version', async () => {
    const id = randomUUID()
    await put(id, body({ version: 1 }))
    const raised = await put(id, body({ version: 3 }))
    assert.equal(raised.event, null)
    assert.equal(raised.stale, undefined)
    const late = await put(id, body({ version: 2, reference: 'late' }))
    assert.equal(late.stale, true)
    assert.equal(JSON.parse(await get(`/payments/${id}`)).version, 3)
  })
})

describe('accounts and answers (§9.2)', () => {
  test('AccountId missing, malformed or sent twice is 400, unknown 404, another account 409', async () => {
    const id = randomUUID()
    for (const accountid of ['', 'x', `${paybell.accountId}, ${paybell.accountId}`]) {
      const answer = await put(id, body(), { accountid })
      assert.equal(answer.status, 400, accountid)
      assert.equal(answer.code, 'account-required')
    }
    const unknown = await put(id, body(), { accountid: randomUUID() })
    assert.equal(unknown.status, 404)
    assert.equal(unknown.code, 'unknown-account')
    assert.equal((await put(id)).status, 201)
    for (const { accountId } of [other, stranger]) {
      const answer = await put(id, body({ reference: 'theirs' }), { accountid: accountId })
      assert.equal(answer.status, 409)
      assert.equal(answer.code, 'payment-of-another-account')
    }
    assert.equal(JSON.parse(await get(`/payments/${id}`)).reference, SAMPLE.reference)
  })

  test('an id in the path that is no uuid is 404; one in the body that differs is 400', async () => {
    assert.equal((await put('42')).status, 404)
    const answer = await put(randomUUID(), body({ id: randomUUID() }))
    assert.equal(answer.status, 400)
    assert.equal(answer.errors?.[0]?.pointer, '/id')
    const id = randomUUID()
    assert.equal((await put(id.toUpperCase(), body({ id }))).payment.id, id)
  })

  test('all wrong fields are reported at once (P4)', async () => {
    const answer = await put(
      randomUUID(),
      body({
        amount: { amount: '1', currency: 'usd' },
        purposeOfPayment: 'GAMBLING',
        status: { state: 'LOST' },
        quoteId: 'x',
        reference: undefined,
      }),
    )
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.errors?.map(({ pointer }) => pointer).sort(), [
      '/amount/amount',
      '/amount/currency',
      '/purposeOfPayment',
      '/quoteId',
      '/reference',
      '/status/state',
    ])
  })

  test('F14: the same write 50 times at once is one 201 and 49 times 200 without an event', async () => {
    const id = randomUUID()
    const answers = await Promise.all(Array.from({ length: 50 }, () => put(id)))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(answers.filter(({ event }) => event !== null).length, 1)
    for (const { status, event } of answers) assert.equal(status, event === null ? 200 : 201)
  })

  test('P9: one payment many times in one gathering has sequences without gaps or forks', async () => {
    const id = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => put(id, body({ reference: `${index}` }))),
    )
    const sequences = answers
      .map(({ event }) => event?.sequence)
      .sort((a, b) => Number(a) - Number(b))
    assert.deepEqual(
      sequences,
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
  })

  test('a client token and no key at all are refused', async () => {
    for (const authorization of [`Bearer ${await paybell.caller.token()}`, 'Bearer x', '']) {
      assert.equal((await put(randomUUID(), body(), { authorization })).status, 401)
    }
  })
})

describe('money is exact (§6.3, P3)', () => {
  const amounts = [
    '9007199254740993.25',
    '9007199254740993',
    '100.00',
    '100',
    '0.1',
    '1e2',
    '1E+2',
    '0',
  ]
  const withAmount = (text: string) => String(body()).replace('12345.67', text)

  test('the digits stay as written in the answer, in GET and in events; another spelling is a change', async () => {
    const id = randomUUID()
    for (const [index, amount] of amounts.entries()) {
      const shown = `"amount":{"amount":${amount},"currency":"EUR"}`
      const answer = await put(id, withAmount(amount))
      assert.equal(answer.event?.sequence, index + 1, amount)
      assert.ok(answer.text.includes(shown), amount)
      assert.ok((await get(`/payments/${id}`)).includes(shown), amount)
      assert.ok((await get(`/payments/${id}/events`)).includes(shown), amount)
      assert.ok((await get('/payments?limit=1')).includes(shown), amount)
      assert.equal((await put(id, withAmount(amount))).event, null)
    }
  })

  test('what is no number, negative, too long or out of range is 400', async () => {
    const id = randomUUID()
    const wrong = ['"1"', '-1', '-0', 'null', 'true', '{}', '[1]', '1e31', '1e-31', '1e400']
    wrong.push('1'.repeat(41))
    for (const amount of wrong) {
      const answer = await put(id, withAmount(amount))
      assert.equal(answer.status, 400, amount)
      assert.equal(answer.errors?.[0]?.pointer, '/amount/amount', amount)
    }
    for (const amount of ['NaN', 'Infinity', '01', '1.', '.5', '0x10', '+1', '1e']) {
      const answer = await put(id, withAmount(amount))
      assert.equal(answer.status, 400, amount)
      assert.equal(answer.code, 'malformed-json', amount)
    }
  })
})

describe('documents (§6.4)', () => {
  test('the file is in callbacks alone: no answer, list or event shows it, and it is stored once', async () => {
    const file = Buffer.from(`file ${randomUUID()}`).toString('base64')
    const ids = [randomUUID(), randomUUID()]
    const document = { ...SAMPLE.document, base64EncodedFile: file }
    for (const id of ids) {
      const answer = await put(id, body({ document }))
      assert.ok(!answer.text.includes(file))
      assert.deepEqual(answer.payment.document, {
        mediaType: 'application/pdf',
        name: 'receipt.pdf',
      })
      for (const path of [`/payments/${id}`, `/payments/${id}/events`, '/payments?limit=5']) {
        const text = await get(path)
        assert.ok(!text.includes('base64EncodedFile') && !text.includes(file), path)
      }
    }
    const { rows } = await paybell.pool.query(
      'select count(*)::int as count from documents where content = $1',
      [file],
    )
    assert.deepEqual(rows, [{ count: 1 }])
  })

  test('P2: base64 that is not strict is 400 and names the field', async () => {
    const wrong = ['', 'A', 'AB', 'ABC', 'AB==\n', 'A B=', 'AB-_', 'QQ=', 'QR==', '====', 'é===', 7]
    for (const base64EncodedFile of wrong) {
      const document = { ...SAMPLE.document, base64EncodedFile }
      const answer = await put(randomUUID(), body({ document }))
      assert.equal(answer.status, 400, `${base64EncodedFile}`)
      assert.equal(
        answer.errors?.[0]?.pointer,
        '/document/base64EncodedFile',
        `${base64EncodedFile}`,
      )
    }
  })

  test('P2: a file of 10 MiB is taken, one of a byte more is refused', async () => {
    const withFile = (bytes: number) =>
      body({
        document: {
          ...SAMPLE.document,
          base64EncodedFile: Buffer.alloc(bytes, 7).toString('base64'),
        },
      })
    assert.equal((await put(randomUUID(), withFile(10 * 1024 * 1024))).status, 201)
    const answer = await put(randomUUID(), withFile(10 * 1024 * 1024 + 1))
    assert.ok(answer.status === 400 || answer.status === 413, `${answer.status}`)
  })

  test('P8: whatever the name and the media type say, they are data', async () => {
    for (const name of ['../../etc/passwd', 'a\r\nb', 'ü'.repeat(1024)]) {
      const document = { ...SAMPLE.document, name, mediaType: 'text/html' }
      const answer = await put(randomUUID(), body({ document }))
      assert.equal(answer.status, 201)
      assert.deepEqual(answer.payment.document, { mediaType: 'text/html', name })
    }
    const name = 'x'.repeat(10_000)
    assert.equal(
      (await put(randomUUID(), body({ document: { ...SAMPLE.document, name } }))).status,
      400,
    )
  })
})
