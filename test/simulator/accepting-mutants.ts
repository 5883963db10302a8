// Deliberate faults in accepting: recordPayments, the gatherer and what surrounds their transaction.

import { type Mutant, patch, type TestedMutant } from './mutant.ts'

const RECORD = 'operations/accepting/record-payments.ts'
const FAN_OUT = 'core/delivery/fan-out.ts'
const GATHERER = 'operations/accepting/payment-gatherer.ts'

export const ACCEPTING_MUTANTS: readonly (Mutant | TestedMutant)[] = [
  {
    name: 'answer before commit',
    patches: [
      patch(
        RECORD,
        'const { results, deliveries, audits } = await payments.transact(async (transaction) => {',
        'const early = Promise.withResolvers()\n  void payments.transact(async (transaction) => {',
      ),
      patch(
        RECORD,
        'const { changes: saved, raised } = plan',
        'const { changes: saved, raised } = plan\n    early.resolve({ results: plan.results, deliveries: [] })',
      ),
      patch(
        RECORD,
        '    return { results: plan.results, deliveries, audits }\n  })\n',
        '    return { results: plan.results, deliveries, audits }\n  }).catch(early.reject)\n  const { results, deliveries, audits = [] } = await early.promise\n',
      ),
    ],
  },
  {
    name: 'sequence without the payment’s lock',
    patches: [
      patch(
        RECORD,
        'const locked = await lock(transaction, changes, clientKeys, locking)',
        'const locked = await payments.transact((other) => lock(other, changes, clientKeys, locking))',
      ),
    ],
  },
  {
    name: 'a busy payment is written all the same',
    patches: [
      patch(RECORD, 'if (busy.has(write.id)) {', 'if (busy.has(write.id) && busy.size > 99) {'),
    ],
  },
  {
    name: 'a commit that fails is answered as done',
    patches: [
      patch(
        RECORD,
        'await transaction.saveAndCommit({ changes: saved, deliveries, raised, audits }, now)',
        'await transaction.saveAndCommit({ changes: saved, deliveries, raised, audits }, now).catch(() => {})',
      ),
    ],
  },
  {
    name: 'one refused write takes its batch along',
    patches: [
      patch(
        GATHERER,
        'return this.#writeOneByOne(batch, locking)',
        'for (const { submitter } of batch) submitter.refused(error)',
      ),
    ],
  },
  {
    name: 'what came while a payment was held is forgotten',
    patches: [
      patch(
        GATHERER,
        'if (hold.later.length > 0) this.#waiting = [...hold.later, ...this.#waiting]',
        'void hold.later',
      ),
    ],
  },
  {
    name: 'a wait that is over frees no slot',
    patches: [patch(GATHERER, '    this.#holds.endWait()\n', '')],
    test: 'server/operations/accepting/payment-gatherer.test.ts',
  },
  {
    name: 'hand-off of a batch that is rolled back',
    patches: [
      patch('operations/accepting/postgres-payment-store.ts', '        commit(),\n', ''),
      patch(
        'store/connection/db.ts',
        'await commit()\n    return result',
        'void commit().catch(() => {})\n    return result',
      ),
    ],
    test: 'server/operations/accepting/record-payments.test.ts',
  },
  {
    name: 'a webhook is owed what happens in other accounts',
    patches: [
      patch(FAN_OUT, 'return accountId === null || accountId === event.accountId', 'return true'),
      patch(FAN_OUT, 'owe(event, byAccount.get(event.accountId), ', 'owe(event, endpoints, '),
      patch(FAN_OUT, 'owe(event, ofAllAccounts.get(event.clientKey), hasElders)', ''),
    ],
    test: 'server/core/delivery/fan-out.test.ts',
  },
  {
    name: 'a subscription is owed nothing',
    patches: [patch(FAN_OUT, 'owe(event, ofAllAccounts.get(event.clientKey), hasElders)', '')],
  },
  {
    name: 'an endpoint is owed what it does not hear',
    patches: [patch(FAN_OUT, ' || !hears(events, event.kind)', '')],
  },
  {
    name: 'an update forgets the elders of its own call',
    patches: [
      patch(
        FAN_OUT,
        'const hasElders = event.sequence > 1 && payments.has(event.paymentId)',
        'const hasElders = false',
      ),
    ],
    test: 'server/core/delivery/fan-out.test.ts',
  },
]
