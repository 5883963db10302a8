// `paybell trigger`: makes a payment and takes it through its states, so that a receiver that is being
// written has something to receive.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { DocumentWithFile, WrittenPayment } from '../../sdk/src/internal/operator-types.ts'
import { PAYMENT_STATES } from '../../sdk/src/internal/words.ts'
import { toExactJson } from '../../sdk/src/plain/money.ts'
import type { PaymentState } from '../../sdk/src/wire/types.ts'
import type { Answer, Api } from '../basics/api.ts'
import { type Call, calling, operatorCommand } from '../basics/command.ts'
import { durationOption, gather, id, integer, oneOf } from '../basics/parse.ts'
import { paintState } from '../basics/terminal.ts'
import {
  override,
  pathTo,
  readDocument,
  type SamplePayment,
  samplePayment,
} from './sample-payment.ts'

interface TriggerOptions {
  state: PaymentState
  override?: string[]
  document?: string
  every: number
  count: number
  only?: boolean
}

export function triggerCommand(): Command {
  return operatorCommand('trigger', 'Create a payment and move it through its states.', [
    'paybell trigger',
    'paybell trigger --state DUE --override amount.amount=1250.00 --override amount.currency=EUR',
    'paybell trigger --document receipt.pdf --every 2s',
    'paybell trigger --state DRAFT --count 20',
  ])
    .option('--state <state>', 'the last state', oneOf(PAYMENT_STATES), 'PAID')
    .option('--only', 'write the payment once, in that state, without the states before it')
    .option('--override <field=value>', 'set a field; may be given several times', gather)
    .option('--document <file>', 'attach a receipt in the last state')
    .option('--account <id>', 'account that it belongs to (PAYBELL_ACCOUNT_ID)', id)
    .addOption(durationOption('--every <span>', 'time between two states', '0s'))
    .option('--count <n>', 'number of payments', integer(1, 10_000), 1)
    .action(calling(trigger))
}

async function trigger(call: Call<TriggerOptions>): Promise<void> {
  const { options } = call
  const api = await call.operator()
  const accountId = await call.target.accountId()
  const document = options.document ? await readDocument(options.document) : null
  for (let made = 0; made < options.count; made++) {
    const payment = samplePayment()
    for (const text of options.override ?? []) override(payment, text)
    await walk(call, api, { accountId, payment, document })
    if (options.count === 1) {
      call.note(`See its deliveries: paybell deliveries list --payment ${payment.id}`)
    }
  }
}

async function walk(
  call: Call<TriggerOptions>,
  api: Api,
  made: { accountId: string; payment: SamplePayment; document: DocumentWithFile | null },
): Promise<void> {
  const { state, only, every } = call.options
  const states = only ? [state] : pathTo(state)
  for (const [index, step] of states.entries()) {
    if (index > 0 && every > 0) await delay(every)
    const isLast = index === states.length - 1
    const payment =
      isLast && made.document ? { ...made.payment, document: made.document } : made.payment
    const answer = await writePayment(api, made.accountId, payment, step)
    if (call.isJson) {
      call.print(answer.text)
      continue
    }
    const { event, payment: written } = answer.json<WrittenPayment>()
    if (index === 0) {
      const { amount, currency } = written.amount
      call.print(`Payment ${written.id} of ${amount} ${currency} (${written.externalId})`)
    }
    call.print(
      `  ${paintState(step, call.paint)}${' '.repeat(18 - step.length)}${event ? event.type : 'nothing changed'}`,
    )
  }
}

export function writePayment(
  api: Api,
  accountId: string,
  payment: SamplePayment,
  state: PaymentState,
): Promise<Answer> {
  const status = { ...(payment.status as object | undefined), state }
  return api.call('PUT', `/operator/v1/payments/${payment.id}`, {
    accountId,
    headers: { 'content-type': 'application/json' },
    content: toExactJson({ ...payment, status }),
  })
}
