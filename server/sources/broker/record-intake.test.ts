// What both brokers rely on, with records that are in no broker.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sampleWrite } from '../../../test/support/payment-sample.ts'
import { until } from '../../../test/support/until.ts'
import type { PaymentMessage } from '../../core/payments/payment-message.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { PaymentChange, RecordedPayment } from '../../operations/accepting/record-payments.ts'
import type { BrokerRecord } from './broker.ts'
import { RecordIntake } from './record-intake.ts'

interface TestRecord extends BrokerRecord {
  name: string
}

/** An intake whose every step is noted. `write` decides what the database does. */
function stage(write: (change: PaymentChange) => Promise<void> = async () => {}) {
  const steps: string[] = []
  const failures: Error[] = []
  let isHeld = true
  const right = { source: 'test', id: randomUUID(), isHeld: () => isHeld }
  const intake = new RecordIntake<TestRecord>({
    name: 'test',
    restMs: 1,
    log: { info() {}, warn() {} },
    gatherer: {
      async submit(change) {
        await write(change)
        steps.push(`wrote ${change.write.reference}`)
        return {} as RecordedPayment
      },
    },
    onRecord: (outcome) => void steps.push(outcome),
    onSettled: ({ name }) => void steps.push(`settled ${name}`),
    onFailure: (error) => {
      failures.push(error)
      intake.end()
    },
  })
  const record = (name: string, changes: Partial<PaymentMessage> & { id?: string } = {}) => {
    const { id = randomUUID(), ...rest } = changes
    const change = { accountId: randomUUID(), write: sampleWrite({ id, reference: name }) }
    return {
      name,
      right,
      origin: { name },
      read: () => ({ accountId: null, paymentId: id, change, error: null, ...rest }),
      countTry: () => 1,
      putAside: async (_: string | null, { code }: ServiceError) =>
        void steps.push(`aside ${name} ${code}`),
      acknowledge: async () => void steps.push(`acknowledged ${name}`),
    }
  }
  const lose = () => {
    isHeld = false
  }
  return { intake, record, steps, failures, lose, right }
}

test('a record is acknowledged after it was written, and settled after that', async () => {
  const { intake, record, steps } = stage()
  intake.take(record('a'))
  await intake.idle()
  assert.deepEqual(steps, ['wrote a', 'acknowledged a', 'recorded', 'settled a'])
})

test('of one payment the next waits until the one before is acknowledged; other payments do not', async () => {
  const { intake, record, steps } = stage()
  const id = randomUUID()
  const acknowledged = Promise.withResolvers<void>()
  const slow = { ...record('a', { id }), acknowledge: () => acknowledged.promise }
  intake.take(slow)
  intake.take(record('b', { id }))
  intake.take(record('c'))
  await until('the stranger is settled', () => steps.includes('settled c'))
  assert.ok(!steps.includes('wrote b'))
  acknowledged.resolve()
  await intake.idle()
  assert.ok(steps.indexOf('settled a') < steps.indexOf('wrote b'))
})

test('what can never be recorded is put aside before it is acknowledged, and its neighbours go on', async () => {
  const { intake, record, steps } = stage(async ({ write }) => {
    if (write.reference === 'moves') throw new ServiceError('forbidden-move', 'No.')
  })
  const error = new ServiceError('malformed-json', 'No.')
  intake.take(record('poison', { paymentId: null, change: null, error }))
  intake.take(record('moves'))
  intake.take(record('good'))
  await intake.idle()
  for (const [name, code] of [
    ['poison', 'malformed-json'],
    ['moves', 'forbidden-move'],
  ] as const) {
    const aside = steps.indexOf(`aside ${name} ${code}`)
    assert.ok(aside >= 0 && aside < steps.indexOf(`acknowledged ${name}`), steps.join())
  }
  assert.ok(steps.includes('settled good'))
})

test('one whose dead letter could not be stored is not acknowledged', async () => {
  const { intake, record, steps, failures } = stage()
  const error = new ServiceError('malformed-json', 'No.')
  intake.take({
    ...record('poison', { change: null, error }),
    putAside: () => Promise.reject(new Error('no room')),
  })
  await intake.idle()
  assert.deepEqual(steps, [])
  assert.equal(failures[0]?.message, 'no room')
})

test('a database that is away ends the intake: nothing later of the payment is begun', async () => {
  const { intake, record, steps, failures } = stage(async () => {
    throw new ServiceError('database-away', 'Away.')
  })
  const id = randomUUID()
  for (const name of ['a', 'b']) intake.take(record(name, { id }))
  await intake.idle()
  assert.deepEqual(steps, [])
  assert.equal(failures.length, 1)
})

test('a payment that another transaction holds is waited for', async () => {
  let refusals = 3
  const { intake, record, steps, failures } = stage(async () => {
    if (refusals-- > 0) throw new ServiceError('overloaded', 'Held.', { retryAfterSeconds: 1 })
  })
  intake.take(record('a'))
  await intake.idle()
  assert.ok(steps.includes('settled a'))
  assert.deepEqual(failures, [])
})

test('a mistake of ours is tried five times before the record is put aside', async () => {
  const broken = async () => {
    throw new Error('a mistake')
  }
  for (const tries of [1, 4, 5]) {
    const { intake, record, steps, failures } = stage(broken)
    intake.take({ ...record('a'), countTry: () => tries })
    await intake.idle()
    assert.equal(steps.includes('aside a internal'), tries === 5)
    assert.equal(steps.includes('acknowledged a'), tries === 5)
    assert.equal(failures.length, tries === 5 ? 0 : 1)
  }
})

test('one that lost its right while it wrote acknowledges nothing', async () => {
  const { intake, record, steps, failures, lose } = stage(async () => lose())
  intake.take(record('a'))
  await intake.idle()
  assert.deepEqual(steps, ['wrote a'])
  assert.equal(failures.length, 1)
})

test('a change names the right that it was read under', async () => {
  const changes: PaymentChange[] = []
  const { intake, record, right } = stage(async (change) => void changes.push(change))
  intake.take(record('a'))
  await intake.idle()
  assert.deepEqual(changes[0]?.readUnder, { source: 'test', lease: right.id })
})
