import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../plain/errors.ts'
import { CLIENTS_QUERY, type DeliveryFilter, parseDeliveryFilter } from './delivery-filter.ts'

const NO_FILTER: DeliveryFilter = {
  clientId: null,
  accountId: null,
  endpointId: null,
  paymentId: null,
  eventId: null,
  jobId: null,
  externalId: null,
  states: null,
  kind: null,
  outcomes: null,
  fromMs: null,
  toMs: null,
  search: null,
}

const ID = '7C0D0A5E-54C8-4B56-9F0E-2A4F5D1C9B11'

test('what is left out, or null, does not filter', () => {
  assert.deepEqual(parseDeliveryFilter({}), NO_FILTER)
  const nulls = { clientId: null, state: null, event: null, from: null, q: null }
  assert.deepEqual(parseDeliveryFilter(nulls), NO_FILTER)
})

test('ids are lower case, instants are milliseconds, states have one order and no double', () => {
  assert.deepEqual(
    parseDeliveryFilter({
      clientId: ID,
      accountId: ID,
      endpointId: ID,
      paymentId: ID,
      eventId: ID,
      job: ID,
      externalId: 'INV-1 ',
      outcome: '5xx,no-address,none',
      state: 'CANCELLED,EXHAUSTED,CANCELLED',
      event: 'payment.paid',
      from: '2026-03-02T09:30:00.400Z',
      to: '2026-03-02T11:00:00+01:00',
      q: ' INV-1 ',
    }),
    {
      clientId: ID.toLowerCase(),
      accountId: ID.toLowerCase(),
      endpointId: ID.toLowerCase(),
      paymentId: ID.toLowerCase(),
      eventId: ID.toLowerCase(),
      jobId: ID.toLowerCase(),
      externalId: 'INV-1 ',
      outcomes: {
        codes: ['dns-error', 'blocked-address'],
        statuses: [{ from: 500, to: 599 }],
        isUntried: true,
      },
      states: ['EXHAUSTED', 'CANCELLED'],
      kind: 'payment.paid',
      fromMs: Date.parse('2026-03-02T09:30:00.400Z'),
      toMs: Date.parse('2026-03-02T10:00:00Z'),
      search: 'INV-1',
    },
  )
  assert.deepEqual(parseDeliveryFilter({ state: ['PENDING'] }).states, ['PENDING'])
})

test('all faults are reported at once, where they are, in a query or in a body', () => {
  const wrong = {
    clientId: 'x',
    state: 'DELIVERED,LOST',
    event: 'payment.lost',
    from: 'yesterday',
    q: '   ',
  }
  const pointers = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      assert.ok(error instanceof ServiceError)
      return { code: error.code, at: error.errors?.map((fault) => fault.pointer) }
    }
    return assert.fail('was taken')
  }
  assert.deepEqual(
    pointers(() => parseDeliveryFilter(wrong)),
    { code: 'invalid-query', at: ['/clientId', '/state', '/event', '/from', '/q'] },
  )
  assert.deepEqual(
    pointers(() => parseDeliveryFilter(wrong, { code: 'invalid-fields', pointer: '/filter' })),
    {
      code: 'invalid-fields',
      at: ['/filter/clientId', '/filter/state', '/filter/event', '/filter/from', '/filter/q'],
    },
  )
  for (const one of [
    { state: '' },
    { state: [] },
    { state: 7 },
    { from: 5 },
    { from: '2026-13-02T09:30:00Z' },
    { from: '2026-03-02T09:30:00Z', to: '2026-03-02T09:30:00Z' },
    { q: 'a\u0000b' },
    { q: '\ud800' },
    { q: 'x'.repeat(257) },
    { q: 1 },
    { externalId: ' ' },
    { externalId: 'a\u0000b' },
    { externalId: 'x'.repeat(1_025) },
    { outcome: '' },
    { outcome: '6xx' },
    { outcome: '5xx,late' },
    { outcome: Array.from({ length: 21 }, () => '5xx') },
    { job: 'x' },
    { paymentId: [ID] },
  ]) {
    assert.throws(() => parseDeliveryFilter(one), ServiceError, JSON.stringify(one))
  }
})

test('a client cannot ask which of two outcomes it was that it is shown as one', () => {
  const parse = (outcome: string) => parseDeliveryFilter({ outcome }, CLIENTS_QUERY).outcomes
  assert.deepEqual(parse('no-address,503'), {
    codes: ['dns-error', 'blocked-address'],
    statuses: [{ from: 503, to: 503 }],
    isUntried: false,
  })
  for (const outcome of ['dns-error', 'blocked-address', 'timeout,dns-error']) {
    assert.throws(() => parse(outcome), ServiceError, outcome)
  }
})
