import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { idOf, nextTick } from '../../../test/support/engine-parts.ts'
import { sampleWrite } from '../../../test/support/payment-sample.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { GATHERER_LIMITS, type GathererLimits, PaymentGatherer } from './payment-gatherer.ts'
import { HOLD_LIMITS, type HoldLimits, holdLimits } from './payment-holds.ts'
import {
  type Locking,
  PAYMENT_BUSY,
  type PaymentChange,
  type RecordResult,
} from './record-payments.ts'

const ACCOUNT = randomUUID()
const WRITE = sampleWrite({ document: undefined })

/** A change of payment `number`, known by its reference. */
function change(number: number, reference = ''): PaymentChange {
  return { accountId: ACCOUNT, write: { ...WRITE, id: idOf(number), reference } }
}

function withFile(number: number, bytes: number): PaymentChange {
  const file = { base64: Buffer.alloc(bytes), hash: Buffer.alloc(32), sizeBytes: bytes }
  const { accountId, write } = change(number)
  return { accountId, write: { ...write, document: { mediaType: 'text/plain', name: 'a', file } } }
}

function recorded({ write }: PaymentChange): RecordResult {
  return { outcome: 'created', text: write.reference, event: null }
}

interface Transaction {
  changes: readonly PaymentChange[]
  locking: Locking
  commit(results?: readonly RecordResult[]): void
  fail(error: Error): void
}

/** A gatherer over transactions that end when the test says so. */
function gathererOver(limits: Partial<GathererLimits> = {}, holds: Partial<HoldLimits> = {}) {
  const transactions: Transaction[] = []
  const gatherer = new PaymentGatherer(
    (changes, locking) =>
      new Promise((resolve, reject) => {
        transactions.push({
          changes,
          locking,
          commit: (results) => resolve(results ?? changes.map(recorded)),
          fail: reject,
        })
      }),
    { ...GATHERER_LIMITS, ...limits },
    { ...HOLD_LIMITS, ...holds },
  )
  return { gatherer, transactions }
}

const away = () => Object.assign(new Error('gone'), { code: '57P01' })

test('what arrives together travels in one transaction; what comes later waits for it', async () => {
  const { gatherer, transactions } = gathererOver()
  const first = [1, 2, 3].map((n) => gatherer.submit(change(n)))
  await nextTick()
  const later = [4, 5].map((n) => gatherer.submit(change(n)))
  await nextTick()
  assert.deepEqual(
    transactions.map(({ changes }) => changes.length),
    [3],
  )
  transactions[0]?.commit()
  await Promise.all(first)
  await nextTick()
  assert.equal(transactions[1]?.changes.length, 2)
  transactions[1]?.commit()
  await Promise.all(later)
})

test('what several sockets bring at once travels in one transaction', async () => {
  const { gatherer, transactions } = gathererOver()
  void gatherer.submit(change(1))
  // Between two sockets Node runs everything that waits in its queues.
  await new Promise((resolve) => process.nextTick(resolve))
  void gatherer.submit(change(2))
  await nextTick()
  assert.deepEqual(
    transactions.map(({ changes }) => changes.length),
    [2],
  )
})

test('a second transaction goes beside the first only when a whole one waits, and never a third', async () => {
  const { gatherer, transactions } = gathererOver({ changesPerFlushMax: 3 })
  for (let n = 0; n < 20; n++) void gatherer.submit(change(n))
  await nextTick()
  assert.deepEqual(
    transactions.map(({ changes }) => changes.length),
    [3, 3],
  )
})

test('large files travel in transactions of their own size', async () => {
  const { gatherer, transactions } = gathererOver({ bytesPerFlushMax: 100, flushesMax: 1 })
  for (const bytes of [60, 30, 30, 500, 10]) void gatherer.submit(withFile(bytes, bytes))
  for (let n = 0; n < 4; n++) {
    await nextTick()
    transactions[n]?.commit()
  }
  assert.deepEqual(
    transactions.map(({ changes }) => changes.map(({ write }) => write.document?.file.sizeBytes)),
    [[60, 30], [30], [500], [10]],
  )
})

test('each caller gets its own result, a refusal its own error', async () => {
  const { gatherer, transactions } = gathererOver()
  const both = [1, 2].map((n) => gatherer.submit(change(n, `r${n}`)))
  await nextTick()
  const refusal = new ServiceError('forbidden-move', 'No.')
  transactions[0]?.commit([recorded(change(1, 'r1')), refusal])
  assert.equal((await both[0])?.text, 'r1')
  await assert.rejects(both[1] ?? assert.fail(), refusal)
})

test('regression: changes of one payment keep their order, also across transactions', async () => {
  const { gatherer, transactions } = gathererOver({ changesPerFlushMax: 2 })
  void gatherer.submit(change(1, 'a'))
  void gatherer.submit(change(2))
  for (const n of [1, 3, 4, 1]) void gatherer.submit(change(n, 'b'))
  await nextTick()
  const ids = () => transactions.map(({ changes }) => changes.map(({ write }) => write.id))
  assert.deepEqual(ids(), [
    [idOf(1), idOf(2)],
    [idOf(3), idOf(4)],
  ])
  transactions[1]?.commit()
  await nextTick()
  assert.equal(transactions.length, 2, 'the first one still has it')
  transactions[0]?.commit()
  await nextTick()
  assert.deepEqual(ids()[2], [idOf(1), idOf(1)])
})

test('law: a payment is in one transaction at a time, in order, and every caller gets an answer', async () => {
  const payments = fc.array(fc.nat(4), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(payments, fc.infiniteStream(fc.nat()), async (numbers, dice) => {
      const { gatherer, transactions } = gathererOver({ changesPerFlushMax: 3 })
      const answers: Promise<unknown>[] = []
      for (const [at, n] of numbers.entries()) {
        answers.push(gatherer.submit(change(n, String(at))))
        if (dice.next().value < 3) await nextTick()
      }
      const open = new Set<Transaction>()
      const seen = new Map<string, number>()
      for (let known = 0; ; ) {
        await nextTick()
        for (const transaction of transactions.slice(known)) {
          const others = [...open].flatMap(({ changes }) => changes.map(({ write }) => write.id))
          for (const { write } of transaction.changes) {
            assert.ok(!others.includes(write.id))
            assert.ok(Number(write.reference) > (seen.get(write.id) ?? -1))
            seen.set(write.id, Number(write.reference))
          }
          open.add(transaction)
        }
        known = transactions.length
        const ended = [...open][dice.next().value % Math.max(1, open.size)]
        if (ended === undefined) break
        open.delete(ended)
        ended.commit()
      }
      assert.equal((await Promise.all(answers)).length, numbers.length)
    }),
    { numRuns: 40 },
  )
})

test('one poisonous member fails alone: its neighbours get transactions of their own', async () => {
  const poison = new Error('value too long')
  const gatherer = new PaymentGatherer(async (changes) => {
    if (changes.some(({ write }) => write.reference === 'poison')) throw poison
    return changes.map(recorded)
  })
  const results = await Promise.allSettled(
    ['a', 'poison', 'b'].map((reference, n) => gatherer.submit(change(n, reference))),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((results[1] as PromiseRejectedResult).reason, poison)
})

test('A10: a database that is away is the answer to all, and nothing is tried one by one', async () => {
  const { gatherer, transactions } = gathererOver()
  const both = [1, 2].map((n) => gatherer.submit(change(n)))
  await nextTick()
  transactions[0]?.fail(away())
  for (const one of both) {
    await assert.rejects(one, { code: 'database-away', retryAfterSeconds: 2 })
  }
  await nextTick()
  assert.equal(transactions.length, 1)
  const again = gatherer.submit(change(1))
  await nextTick()
  transactions[1]?.commit()
  await again
})

test('I11: beyond its limit it asks callers to come back, and takes them when there is room', async () => {
  const { gatherer, transactions } = gathererOver({ waitingMax: 2, changesPerFlushMax: 1 })
  const waiting = [1, 2].map((n) => gatherer.submit(change(n)))
  await assert.rejects(gatherer.submit(change(3)), { code: 'overloaded', retryAfterSeconds: 1 })
  await nextTick()
  const taken = gatherer.submit(change(4))
  for (let n = 0; n < 3; n++) {
    await nextTick()
    for (const transaction of transactions) transaction.commit()
  }
  await Promise.all([...waiting, taken])
})

test('I11: waiting bytes are bounded too, but a file larger than the bound is let in alone', async () => {
  const { gatherer } = gathererOver({ waitingBytesMax: 100 })
  void gatherer.submit(withFile(1, 500))
  await assert.rejects(gatherer.submit(withFile(2, 1)), { code: 'overloaded' })
  await nextTick()
  void gatherer.submit(withFile(3, 100))
  await assert.rejects(gatherer.submit(withFile(4, 1)), { code: 'overloaded' })
})

/** All are recorded but those of these payments. */
function allBut(transaction: Transaction | undefined, ...busy: number[]): void {
  const ids = busy.map(idOf)
  transaction?.commit(
    transaction.changes.map((one) => (ids.includes(one.write.id) ? PAYMENT_BUSY : recorded(one))),
  )
}

const referencesOf = ({ changes }: Transaction) => changes.map(({ write }) => write.reference)
const waitOver = () => Object.assign(new Error('canceled'), { code: '57014' })

test('regression: what another transaction holds waits in a transaction of its own, and strangers do not', async () => {
  const { gatherer, transactions } = gathererOver()
  const answers = [1, 2, 3].map((n) => gatherer.submit(change(n, `r${n}`)))
  await nextTick()
  allBut(transactions[0], 2)
  assert.equal((await answers[0])?.text, 'r1')
  assert.equal((await answers[2])?.text, 'r3')
  assert.deepEqual(
    transactions.map(({ locking, changes }) => [locking, changes.length]),
    [
      ['try', 3],
      ['wait', 1],
    ],
  )
  const stranger = gatherer.submit(change(4, 'r4'))
  await nextTick()
  transactions[2]?.commit()
  assert.equal((await stranger).text, 'r4')
  transactions[1]?.commit()
  assert.equal((await answers[1])?.text, 'r2')
})

test('regression: nothing overtakes a change that waits: what comes later for its payment is next', async () => {
  const { gatherer, transactions } = gathererOver()
  const answers = ['a', 'b'].map((reference) => gatherer.submit(change(1, reference)))
  await nextTick()
  allBut(transactions[0], 1)
  await nextTick()
  answers.push(...['c', 'd'].map((reference) => gatherer.submit(change(1, reference))))
  await nextTick()
  assert.deepEqual(transactions.map(referencesOf), [
    ['a', 'b'],
    ['a', 'b'],
  ])
  transactions[1]?.commit()
  await nextTick()
  assert.deepEqual(transactions[2] && referencesOf(transactions[2]), ['c', 'd'])
  assert.equal(transactions[2]?.locking, 'try')
  transactions[2]?.commit()
  await Promise.all(answers)
})

test('regression: what comes while a payment is tried is not overtaken by what comes while it is held', async () => {
  const { gatherer, transactions } = gathererOver()
  const answers = [gatherer.submit(change(1, 'a'))]
  await nextTick()
  answers.push(gatherer.submit(change(1, 'b')))
  await nextTick()
  allBut(transactions[0], 1)
  await nextTick()
  answers.push(gatherer.submit(change(1, 'c')))
  await nextTick()
  transactions[1]?.commit()
  await nextTick()
  assert.deepEqual(transactions.map(referencesOf), [['a'], ['a'], ['b', 'c']])
  transactions[2]?.commit()
  await Promise.all(answers)
})

test('what comes after a change that finds no room to be held is refused with it', async () => {
  const { gatherer, transactions } = gathererOver({}, { paymentsMax: 0 })
  const answers = [gatherer.submit(change(1, 'a'))]
  await nextTick()
  answers.push(gatherer.submit(change(1, 'b')), gatherer.submit(change(2, 'c')))
  allBut(transactions[0], 1)
  await assert.rejects(answers[0] ?? assert.fail(), PAYMENT_BUSY)
  await assert.rejects(answers[1] ?? assert.fail(), PAYMENT_BUSY)
  await nextTick()
  transactions[1]?.commit()
  assert.equal((await answers[2])?.text, 'c')
})

test('regression: however small the pool is, most of it is left to those that wait for no lock', () => {
  for (const connections of [4, 5, 8, 16, 500]) {
    assert.ok(holdLimits(connections).waitsMax <= connections / 4, `${connections}`)
  }
  assert.equal(holdLimits(16).waitsMax, HOLD_LIMITS.waitsMax)
})

test('a wait that is over is 503 for all who wait for the payment, and the next one tries afresh', async () => {
  const { gatherer, transactions } = gathererOver()
  const first = gatherer.submit(change(1))
  await nextTick()
  allBut(transactions[0], 1)
  await nextTick()
  const second = gatherer.submit(change(1))
  transactions[1]?.fail(waitOver())
  for (const one of [first, second]) {
    await assert.rejects(one, { code: 'overloaded', retryAfterSeconds: 2 })
  }
  const third = gatherer.submit(change(1, 'third'))
  await nextTick()
  transactions[2]?.commit()
  assert.equal((await third).text, 'third')
})

test('a transaction that has waited leaves its slot to the next', async () => {
  const { gatherer, transactions } = gathererOver({}, { waitsMax: 1 })
  for (const payment of [1, 2]) {
    const answer = gatherer.submit(change(payment))
    await nextTick()
    allBut(transactions.at(-1), payment)
    await nextTick()
    transactions.at(-1)?.commit()
    await answer
  }
  assert.deepEqual(
    transactions.map(({ locking }) => locking),
    ['try', 'wait', 'try', 'wait'],
  )
})

test('so many transactions wait and no more: other payments that are not free are tried again, 503 in the end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const holds = { waitsMax: 1, tryMs: 1, tryMsMax: 1, triedMsMax: 5 }
  const { gatherer, transactions } = gathererOver({}, holds)
  const waiting = gatherer.submit(change(1, 'waits'))
  const tried = gatherer.submit(change(2, 'tried'))
  let isOver = false
  const refused = gatherer.submit(change(3)).catch((error) => {
    isOver = true
    return error
  })
  await nextTick()
  allBut(transactions[0], 1, 2, 3)
  await nextTick()
  const later = gatherer.submit(change(2, 'later'))
  for (let known = 2; !isOver; await nextTick()) {
    t.mock.timers.tick(1)
    for (; known < transactions.length; known++) {
      const transaction = transactions[known] as Transaction
      assert.equal(transaction.locking, 'try')
      if (known === 2) allBut(transaction, 2, 3)
      else allBut(transaction, 3)
    }
  }
  assert.equal(await refused, PAYMENT_BUSY)
  assert.equal((await tried).text, 'tried')
  assert.equal((await later).text, 'later')
  transactions[1]?.commit()
  assert.equal((await waiting).text, 'waits')
})

test('I11: what waits for a payment is bounded, and beyond that its writers alone are refused', async () => {
  const holds = { waitsMax: 1, paymentsMax: 2, changesPerPaymentMax: 2, bytesMax: 100 }
  const { gatherer, transactions } = gathererOver({}, { ...holds, tryMs: 200 })
  const answers = [1, 2, 3].map((n) => gatherer.submit(change(n)))
  await nextTick()
  allBut(transactions[0], 1, 2, 3)
  await assert.rejects(answers[2] ?? assert.fail(), PAYMENT_BUSY)
  void gatherer.submit(change(1)).catch(() => {})
  await assert.rejects(gatherer.submit(change(1)), PAYMENT_BUSY)
  await assert.rejects(gatherer.submit(withFile(2, 101)), PAYMENT_BUSY)
  const stranger = gatherer.submit(change(4, 'stranger'))
  await nextTick()
  transactions[2]?.commit()
  assert.equal((await stranger).text, 'stranger')
  transactions[1]?.commit()
  await answers[0]
})

test('a poisonous member does not let a later change of a waiting payment overtake', async () => {
  const poison = new Error('value too long')
  const seen: string[] = []
  let isFirst = true
  const gatherer = new PaymentGatherer(async (changes, locking) => {
    if (changes.some(({ write }) => write.reference === 'poison')) throw poison
    return changes.map((one) => {
      if (locking === 'try' && one.write.reference === 'a' && isFirst) {
        isFirst = false
        return PAYMENT_BUSY
      }
      seen.push(one.write.reference)
      return recorded(one)
    })
  })
  const given = [change(1, 'a'), change(2, 'poison'), change(1, 'b'), change(3, 'c')]
  const results = await Promise.allSettled(given.map((one) => gatherer.submit(one)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(seen, ['c', 'a', 'b'])
})

test('law: also with payments that are not free, all changes of a payment are applied once and in order', async () => {
  const payments = fc.array(fc.nat(4), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(payments, fc.infiniteStream(fc.nat(9)), async (numbers, dice) => {
      const applied = new Map<string, number[]>()
      const under = new Set<string>()
      const gatherer = new PaymentGatherer(
        async (changes, locking) => {
          const ids = new Set(changes.map(({ write }) => write.id))
          for (const id of ids) assert.ok(!under.has(id), 'in one transaction at a time')
          for (const id of ids) under.add(id)
          await nextTick()
          const busy = new Set([...ids].filter(() => locking === 'try' && dice.next().value < 4))
          for (const id of ids) under.delete(id)
          return changes.map((one) => {
            if (busy.has(one.write.id)) return PAYMENT_BUSY
            const of = applied.get(one.write.id) ?? []
            applied.set(one.write.id, [...of, Number(one.write.reference)])
            return recorded(one)
          })
        },
        { ...GATHERER_LIMITS, changesPerFlushMax: 3 },
        { ...HOLD_LIMITS, waitsMax: 1, tryMs: 1, tryMsMax: 1 },
      )
      const answers = numbers.map((n, at) => gatherer.submit(change(n, String(at))))
      assert.equal((await Promise.all(answers)).length, numbers.length)
      for (const n of new Set(numbers)) {
        const mine = [...numbers.keys()].filter((at) => numbers[at] === n)
        assert.deepEqual(applied.get(idOf(n)), mine)
      }
    }),
    { numRuns: 40 },
  )
})
