// Deliberate faults in accepting: recordPayments, the gatherer and what surrounds their transaction.

import type { Mutant, TestedMutant } from './mutant.ts'
import { drop, forceFalse, forceTrue, replace } from './mutant-edits.ts'

export const ACCEPTING_MUTANTS: readonly (Mutant | TestedMutant)[] = [
  {
    name: 'answer before commit',
    edits: {
      recordPayments: [
        replace(
          'const _1 = plan',
          'const _1 = plan; early.resolve({ results: plan.results, deliveries: [] })',
        ),
        replace(
          'const _ = await payments.transact(_1)',
          `const early = Promise.withResolvers()
          void payments.transact(_1).catch(early.reject)
          const { results, deliveries, audits = [] } = await early.promise`,
        ),
      ],
    },
  },
  {
    name: 'sequence without the payment’s lock',
    edits: {
      recordPayments: replace(
        'lock(transaction, __1)',
        'payments.transact((other) => lock(other, __1))',
      ),
    },
  },
  {
    name: 'a busy payment is written all the same',
    edits: { applyChanges: forceFalse('busy.has(_)') },
  },
  {
    name: 'a commit that fails is answered as done',
    edits: {
      recordPayments: replace(
        'transaction.saveAndCommit(__1)',
        'transaction.saveAndCommit(__1).catch(() => {})',
      ),
    },
  },
  {
    name: 'one refused write takes its batch along',
    edits: {
      'PaymentGatherer.#write': replace(
        'return this.#writeOneByOne(__)',
        'for (const { submitter } of batch) submitter.refused(error)',
      ),
    },
  },
  {
    name: 'what came while a payment was held is forgotten',
    edits: { 'PaymentGatherer.#letGo': drop('this.#waiting = _') },
  },
  {
    name: 'a wait that is over frees no slot',
    edits: { 'PaymentGatherer.#wait': drop('endWait') },
    test: 'payment-gatherer.test',
  },
  {
    name: 'hand-off of a batch that is rolled back',
    edits: {
      transactionOn: drop('commit()'),
      inTransaction: replace('await commit()', 'void commit().catch(() => {})'),
    },
    test: 'record-payments.test',
  },
  {
    name: 'a webhook is owed what happens in other accounts',
    edits: {
      isOwed: forceTrue('accountId === null || _'),
      fanOut: [replace('byAccount.get(event.accountId)', 'endpoints'), drop('ofAllAccounts.get')],
    },
    test: 'fan-out.test',
  },
  {
    name: 'a subscription is owed nothing',
    edits: { fanOut: drop('ofAllAccounts.get') },
  },
  {
    name: 'an endpoint is owed what it does not hear',
    edits: { isOwed: forceFalse('!hears(__)') },
  },
  {
    name: 'an update forgets the elders of its own call',
    edits: { fanOut: forceFalse('payments.has') },
    test: 'fan-out.test',
  },
]
