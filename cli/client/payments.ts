// `paybell payments …`: feeding payments in, and seeing them as they are.

import type { Command } from 'commander'
import type {
  OperatorPayment,
  OperatorPaymentEvent,
  WrittenPayment,
} from '../../sdk/src/internal/operator-types.ts'
import { PAYMENT_STATES } from '../../sdk/src/internal/words.ts'
import type { CursorPage, Payment, PaymentItem } from '../../sdk/src/wire/types.ts'
import { isUuid } from '../../server/core/plain/uuid.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, family, operatorCommand, readerCommand } from '../basics/command.ts'
import { readGivenOrInput } from '../basics/given-file.ts'
import { type CursorOptions, showCursorPage, withCursor } from '../basics/lists.ts'
import { id, instant, oneOf } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'
import { type Column, formatTime, paintState, plural } from '../basics/terminal.ts'
import { paymentsImportCommand } from './payments-import.ts'

const PATH = '/operator/v1/payments'
const OWN_PATH = '/v1/payments'
const PAYMENT = '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11'

/** What an integrator does with payments: they are written by the operator. */
export function ownPaymentsCommand(): Command {
  return family('payments', 'Show and list payments.', [show(), list()])
}

export function paymentsCommand(): Command {
  return family('payments', 'Write, import and show payments.', [
    put(),
    show(),
    list(),
    erase(),
    paymentsImportCommand(),
  ])
}

function put(): Command {
  return operatorCommand('put', 'Write one payment: the whole payment, as it is now.', [
    'paybell payments put payment.json --account 01a1dd3c-5815-7000-b1b5-0cf6ce5ee4a4',
    `jq .payment message.json | paybell payments put - --id ${PAYMENT}`,
  ])
    .argument('<file>', 'the payment as JSON; - reads it from stdin')
    .option('--account <id>', 'account that it belongs to (PAYBELL_ACCOUNT_ID)', id)
    .option('--id <id>', 'id of the payment, where the file does not say it', id)
    .action(calling(putPayment))
}

async function putPayment(call: Call<{ id?: string }>, file: string): Promise<void> {
  const text = await readGivenOrInput(file)
  const paymentId = call.options.id ?? readId(text, file)
  const api = await call.operator()
  const answer = await api.call('PUT', `${PATH}/${paymentId}`, {
    accountId: await call.target.accountId(),
    headers: { 'content-type': 'application/json' },
    content: text,
  })
  call.answer<WrittenPayment>(answer, ({ payment, event, stale }) => {
    call.print(`${payment.id} ${paintState(payment.status?.state ?? '-', call.paint)}`)
    if (event) call.print(`${event.type}, sequence ${event.sequence}, event ${event.id}`)
    else call.print(stale ? 'Stale: a newer version is stored.' : 'Nothing changed: no event.')
  })
}

function readId(text: string, file: string): string {
  let paymentId: unknown
  try {
    paymentId = (JSON.parse(text) as { id?: unknown }).id
  } catch {
    throw new UsageError(`${file} is not JSON.`)
  }
  if (typeof paymentId !== 'string' || !isUuid(paymentId)) {
    throw new UsageError('the payment has no id of its own. Give --id ID.')
  }
  return paymentId
}

function show(): Command {
  return readerCommand('show', 'Show a payment as it is now, and its events.', [
    `paybell payments show ${PAYMENT}`,
    `paybell payments show ${PAYMENT} --json | jq .status.state`,
  ])
    .argument('<payment>', 'id of the payment', id)
    .action(calling(showPayment))
}

async function showPayment(call: Call, paymentId: string): Promise<void> {
  const { api, isOperator } = await call.target.reader()
  const answer = await api.get(`${isOperator ? PATH : OWN_PATH}/${paymentId}`)
  if (call.isJson) {
    call.print(answer.text)
    return
  }
  const payment = answer.json<Payment & Partial<OperatorPayment>>()
  const { status, document } = payment
  call.fields([
    ['Payment', payment.id],
    ['State', status?.state],
    ...(status?.reason ? ([['Reason', status.reason]] as const) : []),
    ['Amount', `${payment.amount.amount} ${payment.amount.currency}`],
    ['External id', payment.externalId],
    ['Reference', payment.reference],
    ['Purpose', payment.purposeOfPayment],
    ...(isOperator
      ? ([
          ['Account', payment.accountId],
          ['Client', payment.clientId],
        ] as const)
      : []),
    ['Created', formatTime(payment.createdAt)],
    ['Completed', formatTime(payment.completedAt)],
    ...(document ? ([['Document', `${document.name} (${document.mediaType})`]] as const) : []),
    ...(payment.version ? ([['Version', payment.version]] as const) : []),
  ])
  if (isOperator) await showEvents(call, api, paymentId)
  call.note(`See its deliveries: paybell deliveries list --payment ${paymentId}`)
}

async function showEvents(call: Call, api: Api, paymentId: string): Promise<void> {
  const answer = await api.get(`${PATH}/${paymentId}/events`)
  const events = answer.json<CursorPage<OperatorPaymentEvent>>()
  call.print('')
  call.table(
    [
      { title: 'SEQUENCE', of: ({ sequence }) => sequence, right: true },
      { title: 'EVENT', of: ({ event }) => event },
      { title: 'ACCEPTED', of: ({ createdAt }) => formatTime(createdAt) },
      { title: 'EVENT ID', of: (event) => event.id },
    ],
    events.items,
    'Its events are no longer kept.',
  )
}

function list(): Command {
  return withCursor(
    readerCommand('list', 'List payments, newest first.', [
      'paybell payments list --limit 10',
      'paybell payments list --external-id INV-2026-0042',
      'paybell payments list --client 01a1dd3c-57d6-7001-9e6f-60de241483ec --json',
    ])
      .option('--client <id>', 'only of this client', id)
      .option('--account <id>', 'only of this account', id)
      .option('--external-id <text>', 'only with exactly this external id')
      .option(
        '--state <state>',
        `only in this state: ${PAYMENT_STATES.join(', ')}`,
        oneOf(PAYMENT_STATES),
      )
      .option('--since <when>', 'only first written from then on: 2h, 2026-11-15', instant)
      .option('--until <when>', 'only first written before then', instant),
  ).action(calling(listPayments))
}

interface ListOptions extends CursorOptions {
  client?: string
  externalId?: string
  state?: string
  since?: string
  until?: string
}

async function listPayments(call: Call<ListOptions>): Promise<void> {
  const { limit, after, externalId, state, since, until, client, account } = call.options
  const { api, isOperator } = await call.target.reader()
  const query = { limit, after, externalId, state, from: since, to: until }
  if (!isOperator && client !== undefined) throw new UsageError('--client is for operators.')
  const answer = isOperator
    ? await api.get(PATH, { ...query, clientId: client, accountId: account })
    : await api.call('GET', OWN_PATH, { accountId: account, query })
  showCursorPage<OperatorPayment | PaymentItem>(
    call,
    answer,
    [
      { title: 'PAYMENT', of: (payment) => payment.id },
      { title: 'STATE', of: ({ status }) => status?.state, isState: true },
      { title: 'AMOUNT', of: ({ amount }) => amount.amount, right: true },
      { title: 'CUR', of: ({ amount }) => amount.currency },
      { title: 'EVENTS', of: ({ sequence }) => sequence, right: true },
      ...(isOperator ? [] : [DELIVERIES]),
      { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
      { title: 'EXTERNAL ID', of: ({ externalId }) => externalId },
    ],
    'There are no payments. Make one with: paybell trigger',
  )
}

/** Only a client's own list tells how the deliveries of each payment stand. */
const DELIVERIES: Column<OperatorPayment | PaymentItem> = {
  title: 'DELIVERIES',
  of: (payment) => ('deliveryState' in payment ? payment.deliveryState : null),
}

interface ErasedPayment {
  id: string
  erasedAt: string
  events: number
  documents: number
  cancelled: number
}

function erase(): Command {
  return operatorCommand('erase', 'Erase the personal data of a payment, permanently.', [
    `paybell payments erase ${PAYMENT}`,
    `paybell payments erase ${PAYMENT} --yes --json`,
  ])
    .argument('<payment>', 'id of the payment', id)
    .option('--yes', 'do not ask for confirmation')
    .action(calling(erasePayment))
}

async function erasePayment(call: Call<{ yes?: boolean }>, paymentId: string): Promise<void> {
  const api = await call.operator()
  const question = `Erase payment ${paymentId}? Its data, its files and those of its events cannot be brought back.`
  await call.confirm(question, true)
  const answer = await api.post(`${PATH}/${paymentId}/erase`)
  call.answer<ErasedPayment>(answer, ({ events, documents, cancelled, erasedAt }) => {
    call.print(`${paymentId} is erased since ${formatTime(erasedAt)}.`)
    call.print(
      `${plural(events, 'event', 'events')}, ${plural(documents, 'file', 'files')}, ${plural(cancelled, 'pending delivery cancelled', 'pending deliveries cancelled')}.`,
    )
  })
  call.note('Backups keep it until they are gone. Its id, states and times stay.')
}
