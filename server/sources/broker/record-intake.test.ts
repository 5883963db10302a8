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
import { OwnFaults } from './own-faults.ts'
import { RecordIntake } from './record-intake.ts'

interface TestRecord extends BrokerRecord {
  name: string
}

/** An intake whose every step is noted. `write` decides what the database does. */
function stage(
  write: (change: PaymentChange) => Promise<unknown> = async () => {},
  ownFaults = new OwnFaults({ restMs: 1, restMsMax: 1_000 }),
) {
  const steps: string[] = []
  const failures: Error[] = []
  const warnings: string[] = []
  let isHeld = true
  const right = { source: 'test', id: randomUUID(), isHeld: () => isHeld }
  const intake = new RecordIntake<TestRecord>({
    name: 'test',
    restMs: 1,
    ownFaults,
    log: {
      info() {},
      warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    },
    gatherer: {
      async submit(change) {
        const outcome = (await write(change)) ?? 'created'
        steps.push(`wrote ${change.write.reference}`)
        return { outcome } as RecordedPayment
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
      putAside: async (_: string | null, { code }: ServiceError) =>
        void steps.push(`aside ${name} ${code}`),
      acknowledge: async () => void steps.push(`acknowledged ${name}`),
    }
  }
  const lose = () => {
    isHeld = false
  }
  return { intake, record, steps, failures, warnings, lose, right }
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

/** As PostgreSQL refuses a role that may not write. */
const refusal = () =>
  Object.assign(new Error('permission denied for table events'), { code: '42501' })

test('a record that fails by a mistake of ours while others succeed is put aside at its fifth try', async () => {
  let tries = 0
  const { intake, record, steps, failures, warnings } = stage(async ({ write }) => {
    if (write.reference !== 'bad') return
    tries++
    throw new Error('a mistake')
  })
  intake.take(record('bad'))
  let others = 0
  await until('it is put aside', () => {
    intake.take(record(`other ${others++}`))
    return steps.includes('aside bad internal')
  })
  await intake.idle()
  assert.ok(tries >= 5, `${tries}`)
  assert.ok(steps.includes('acknowledged bad'))
  assert.equal(steps.filter((step) => step.startsWith('settled other')).length, others)
  assert.ok(!intake.isHeldUp)
  assert.deepEqual(failures, [])
  assert.ok(warnings.includes('test.not-recorded {"error":"a mistake","name":"bad"}'))
})

test('regression: a fault of our own that lasts puts nothing aside; all are recorded in order when it ends', async () => {
  let isBroken = true
  let tries = 0
  const { intake, record, steps, failures, warnings } = stage(async () => {
    tries++
    if (isBroken) throw refusal()
  })
  const ids = Array.from({ length: 20 }, () => randomUUID())
  for (const n of [1, 2])
    for (const [at, id] of ids.entries()) intake.take(record(`${at} ${n}`, { id }))
  await until('all have been tried, and some again', () => tries > ids.length + 6)
  assert.ok(intake.isHeldUp)
  assert.equal(steps.length, 0)
  assert.match(warnings[0] ?? '', /not-recorded .*42501 permission denied for table events/)
  const before = tries
  intake.take(record('late'))
  isBroken = false
  await intake.idle()
  assert.ok(!intake.isHeldUp)
  assert.equal(tries, before + 2 * ids.length + 1, 'each once')
  assert.deepEqual(failures, [])
  assert.equal(steps.filter((step) => step.startsWith('aside')).length, 0)
  for (const at of ids.keys()) {
    assert.ok(steps.indexOf(`settled ${at} 1`) < steps.indexOf(`wrote ${at} 2`))
    assert.ok(steps.includes(`settled ${at} 2`))
  }
})

test('while a fault of our own stands, records that change nothing show nothing: none is put aside', async () => {
  let tries = 0
  const { intake, record, steps, failures } = stage(
    async ({ write }) => {
      if (write.reference.startsWith('copy')) return 'unchanged'
      tries++
      throw refusal()
    },
    new OwnFaults({ restMs: 1, restMsMax: 60_000 }),
  )
  intake.take(record('new'))
  let copies = 0
  await until('it has failed more often than one that is put aside', () => {
    if (tries > copies / 2) intake.take(record(`copy ${copies++}`))
    return tries > 7
  })
  await until('all copies are settled', () => steps.includes(`settled copy ${copies - 1}`))
  assert.ok(intake.isHeldUp)
  assert.ok(!steps.includes('aside new internal'))
  assert.deepEqual(failures, [])
  intake.end()
  await intake.idle()
})

test('a fault stands no longer than a record that it has met, also where that changes nothing in the end', async () => {
  let isBroken = true
  const { intake, record, steps } = stage(async () => {
    if (isBroken) throw new Error('a mistake')
    return 'stale'
  })
  intake.take(record('a'))
  await until('it has failed', () => intake.isHeldUp)
  isBroken = false
  await until('it is settled', () => steps.includes('settled a'))
  assert.ok(!intake.isHeldUp)
  await intake.idle()
})

test('a fault of our own that has lasted ends the session, and stands in the next', async () => {
  const faults = new OwnFaults({ restMs: 1, restMsMax: 8 })
  let isBroken = true
  const write = async () => {
    if (isBroken) throw refusal()
  }
  const run = async () => {
    const { intake, record, steps, failures } = stage(write, faults)
    for (const name of ['a', 'b', 'c']) intake.take(record(name))
    await intake.idle()
    return { steps, failures }
  }
  for (let session = 0; session < 3; session++) {
    const { steps, failures } = await run()
    assert.match(failures[0]?.message ?? '', /went wrong inside/)
    assert.equal(steps.length, 0)
  }
  isBroken = false
  const { steps, failures } = await run()
  assert.deepEqual(failures, [])
  assert.equal(steps.filter((step) => step.startsWith('settled')).length, 3)
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
  const { intake, record, right } = stage(async (change) => {
    changes.push(change)
  })
  intake.take(record('a'))
  await intake.idle()
  assert.deepEqual(changes[0]?.readUnder, { source: 'test', lease: right.id })
})
