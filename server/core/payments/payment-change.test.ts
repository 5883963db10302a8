import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE, sampleWrite } from '../../../test/support/payment-sample.ts'
import { callbackBodyParts } from '../delivery/callback.ts'
import { ServiceError } from '../plain/errors.ts'
import { parseJson } from '../plain/exact-json.ts'
import { isFinal, MOVES, PAYMENT_STATES, type PaymentState, type PaymentWrite } from './payment.ts'
import { type Applied, applyChange, type StoredPayment } from './payment-change.ts'
import { parsePayment } from './payment-fields.ts'

const ACCOUNT = '7b1f8f0e-0000-4000-8000-000000000001'
const NOW = Date.UTC(2026, 0, 31, 12)
const LATER = NOW + 60_000

const write = sampleWrite
const inState = (state: PaymentState, changes: Record<string, unknown> = {}) =>
  write({ status: { state }, ...changes })
const apply = (stored: StoredPayment | null, next: PaymentWrite, nowMs = NOW) =>
  applyChange(stored, ACCOUNT, next, nowMs)
const first = (next: PaymentWrite) => apply(null, next).stored
const payment = (applied: Applied) => JSON.parse(applied.stored.text)
const isRefusal = (code: string, detail: RegExp) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && detail.test(error.message)

test('the first write makes payment.created with sequence 1, whatever its state', () => {
  for (const state of PAYMENT_STATES) {
    const applied = apply(null, inState(state))
    assert.deepEqual(
      [applied.outcome, applied.event],
      ['created', { kind: 'payment.created', sequence: 1 }],
    )
    assert.equal(payment(applied).status.state, state)
  }
})

test('P4: every pair of states is a move, a stay or a 409 that names both', () => {
  const kinds: Record<PaymentState, string> = {
    DRAFT: 'payment.updated',
    PENDING_APPROVAL: 'payment.pending_approval',
    DUE: 'payment.due',
    PAID: 'payment.paid',
    CANCELLED: 'payment.cancelled',
  }
  for (const from of PAYMENT_STATES) {
    for (const to of PAYMENT_STATES) {
      const stored = first(inState(from))
      const next = inState(to, { reference: 'another' })
      if (from !== to && !MOVES[from].includes(to)) {
        assert.throws(
          () => apply(stored, next),
          isRefusal('forbidden-move', new RegExp(`${from} to ${to}`)),
        )
      } else {
        const kind = from === to ? 'payment.updated' : kinds[to]
        assert.deepEqual(apply(stored, next).event, { kind, sequence: 2 }, `${from} to ${to}`)
      }
    }
  }
})

const CHANGES: Record<string, unknown>[] = [
  { status: { state: 'DUE' } },
  { status: { state: 'DUE', reason: 'another' } },
  { externalId: 'another' },
  { quoteId: SAMPLE.id },
  { amount: { amount: 12345.68, currency: 'EUR' } },
  { amount: { amount: 12345.67, currency: 'USD' } },
  { reference: 'another' },
  { purposeOfPayment: 'OTHER' },
  { beneficiaryId: SAMPLE.id },
  { documentReference: undefined },
  { documentReference: '' },
  { document: undefined },
  { document: { ...SAMPLE.document, name: 'another.pdf' } },
  { document: { ...SAMPLE.document, mediaType: 'image/jpeg' } },
  { document: { ...SAMPLE.document, base64EncodedFile: 'TQ==' } },
]

test('a write that changes any one field is an event; optional fields left out are gone', () => {
  for (const changes of CHANGES) {
    const applied = apply(first(write()), write(changes))
    assert.deepEqual(
      applied.event,
      { kind: 'payment.updated', sequence: 2 },
      JSON.stringify(changes),
    )
    // And back again.
    assert.equal(apply(applied.stored, write()).event?.sequence, 3)
  }
})

test('P3: amounts are compared as written: 100.0 after 100.00 is a change', () => {
  const written = (amount: string) => ({ ...write(), amount: { amount, currency: 'EUR' } })
  const stored = first(written('100.00'))
  assert.equal(apply(stored, written('100.00')).outcome, 'unchanged')
  for (const amount of ['100.0', '100', '1e2', '1E2'])
    assert.equal(apply(stored, written(amount)).outcome, 'changed')
})

test('a write that changes nothing makes no event, also in other spellings of the same', () => {
  const same = [
    {},
    { status: undefined },
    { createdAt: undefined },
    { createdAt: '1999-01-01T00:00:00Z' },
  ]
  same.push({ completedAt: '1999-01-01T00:00:00Z' } as never, { complete: true } as never)
  same.push({ id: SAMPLE.id.toUpperCase(), quoteId: SAMPLE.quoteId.toUpperCase() } as never)
  for (const changes of same) {
    const stored = first(write())
    assert.deepEqual(apply(stored, write(changes), LATER), {
      outcome: 'unchanged',
      stored,
      versionRaised: false,
      event: null,
    })
  }
})

test('status left out is DRAFT at first, and later unchanged, the reason included', () => {
  assert.deepEqual(payment(apply(null, write({ status: undefined }))).status, { state: 'DRAFT' })
  const applied = apply(first(write()), write({ status: undefined, reference: 'another' }))
  assert.deepEqual(payment(applied).status, SAMPLE.status)
})

test('createdAt is the first one given, or the time of acceptance', () => {
  assert.equal(
    payment(apply(null, write({ createdAt: undefined }))).createdAt,
    '2026-01-31T12:00:00.000Z',
  )
  const applied = apply(
    first(write()),
    write({ createdAt: '1999-01-01T00:00:00Z', reference: 'b' }),
  )
  assert.equal(payment(applied).createdAt, SAMPLE.createdAt)
})

test('completedAt is set once, on entering a final state: as given, or the time of acceptance', () => {
  const given = '2026-01-30T00:00:00+01:00'
  const due = first(inState('DUE', { completedAt: given }))
  assert.equal(JSON.parse(due.text).completedAt, undefined)
  assert.equal(payment(apply(due, inState('PAID', { completedAt: given }))).completedAt, given)

  const paid = apply(due, inState('PAID'))
  assert.equal(payment(paid).completedAt, '2026-01-31T12:00:00.000Z')
  const receipt = inState('PAID', { completedAt: given, documentReference: 'receipt' })
  const attached = apply(paid.stored, receipt, LATER)
  assert.deepEqual(attached.event, { kind: 'payment.updated', sequence: 3 })
  assert.equal(payment(attached).completedAt, '2026-01-31T12:00:00.000Z')
  assert.equal(
    payment(apply(null, inState('CANCELLED', { completedAt: given }))).completedAt,
    given,
  )
})

test('a version not above the stored one is stale, and is judged before the move', () => {
  const paid = first(inState('PAID', { version: 5 }))
  for (const version of [0, 4, 5]) {
    assert.deepEqual(apply(paid, inState('DRAFT', { version })), {
      outcome: 'stale',
      stored: paid,
      event: null,
    })
  }
  assert.throws(
    () => apply(paid, inState('DRAFT', { version: 6 })),
    isRefusal('forbidden-move', /PAID to DRAFT/),
  )
  assert.throws(() => apply(paid, inState('DRAFT')), isRefusal('forbidden-move', /PAID to DRAFT/))
})

test('the stored version only rises: by a change, by a write that changes nothing, never by none', () => {
  const none = first(write())
  assert.equal(none.version, null)
  const zero = apply(none, write({ version: 0 }))
  assert.deepEqual([zero.outcome, zero.stored.version], ['unchanged', 0])
  assert.ok(zero.outcome === 'unchanged' && zero.versionRaised)
  const changed = apply(zero.stored, write({ version: 7, reference: 'b' }))
  assert.deepEqual([changed.outcome, changed.stored.version], ['changed', 7])
  const without = apply(changed.stored, write({ reference: 'c' }))
  assert.deepEqual([without.outcome, without.stored.version], ['changed', 7])
})

test('a payment of another account is refused, even when the write is stale', () => {
  const stored = first(write({ version: 5 }))
  for (const version of [1, 9]) {
    assert.throws(
      () => applyChange(stored, SAMPLE.id, write({ version }), NOW),
      isRefusal('payment-of-another-account', /another account/),
    )
  }
})

// Few values for each field, so that repeats, moves, stale versions and forbidden moves all happen.
const anyWrite = fc
  .record(
    {
      status: fc.record({
        state: fc.constantFrom(...PAYMENT_STATES),
        reason: fc.constantFrom(null, 'r'),
      }),
      reference: fc.constantFrom('a', 'b'),
      completedAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00.5+02:00'),
      document: fc.constantFrom(null, SAMPLE.document, {
        ...SAMPLE.document,
        base64EncodedFile: 'TQ==',
      }),
      version: fc.nat(6),
    },
    { requiredKeys: [] },
  )
  .map((changes) => write(changes))

test('law: whatever is written, sequences rise by one, final states stay, versions never fall', () => {
  fc.assert(
    fc.property(fc.array(anyWrite, { maxLength: 12 }), (writes) => {
      let stored: StoredPayment | null = null
      let nowMs = NOW
      for (const next of writes) {
        nowMs += 1_000
        const before: StoredPayment | null = stored
        let applied: Applied
        try {
          applied = apply(before, next, nowMs)
        } catch (error) {
          assert.ok(error instanceof ServiceError && error.code === 'forbidden-move')
          continue
        }
        stored = applied.stored
        holdLaws(before, next, applied)
        // The same write again never does anything more.
        assert.equal(apply(stored, next, nowMs + 1).event, null)
      }
    }),
    { numRuns: 500 },
  )
})

function holdLaws(before: StoredPayment | null, next: PaymentWrite, applied: Applied) {
  const { stored, event } = applied
  assert.equal(stored.sequence, (before?.sequence ?? 0) + (event ? 1 : 0))
  assert.equal(event?.sequence ?? stored.sequence, stored.sequence)
  assert.ok((stored.version ?? -1) >= (before?.version ?? -1))
  const now = JSON.parse(stored.text)
  assert.equal(now.complete, isFinal(now.status.state))
  assert.equal('completedAt' in now, now.complete)
  if (before === null) return
  const was = JSON.parse(before.text)
  assert.equal(now.createdAt, was.createdAt)
  if (was.complete) {
    assert.deepEqual([now.status.state, now.completedAt], [was.status.state, was.completedAt])
  }
  const isSame = stored.text === before.text && hex(stored) === hex(before)
  assert.equal(event === null, isSame)
  if (applied.outcome === 'stale') assert.ok((next.version ?? 0) <= (before.version ?? 0))
}

const hex = ({ documentHash }: StoredPayment) =>
  documentHash && Buffer.from(documentHash).toString('hex')

test('law: a callback body that is written back changes nothing', () => {
  const amount = fc.constantFrom('100.00', '1e2', '9007199254740993.25', '0')
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(anyWrite, amount, text, (any, decimal, reference) => {
      const next = { ...any, reference, amount: { amount: decimal, currency: 'EUR' } }
      const { stored } = apply(null, next)
      const parts = callbackBodyParts(stored.text, next.document?.file.base64 ?? null)
      const { value, amountText } = parseJson(Buffer.concat(parts))
      const again = apply(stored, parsePayment(value, amountText), LATER)
      assert.deepEqual(again, { outcome: 'unchanged', stored, versionRaised: false, event: null })
      assert.equal(apply(null, parsePayment(value, amountText)).stored.text, stored.text)
    }),
  )
})
