// `paybell deliveries …`: what is owed to whom, what became of it and why; and putting it right.

import type { Command } from 'commander'
import type { OperatorDelivery } from '../../sdk/src/internal/operator-types.ts'
import { DELIVERY_STATES } from '../../sdk/src/internal/words.ts'
import type { Delivery, DeliveryDetail, DeliveryState } from '../../sdk/src/wire/types.ts'
import { outcomeText } from '../../server/core/delivery/outcome-words.ts'
import { type Call, calling, family, operatorCommand, readerCommand } from '../basics/command.ts'
import { type CursorOptions, showCursorPage, withCursor } from '../basics/lists.ts'
import { id, instant, listOf } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'
import { cellText, formatDuration, formatTime } from '../basics/terminal.ts'
import { tailCommand } from './deliveries-tail.ts'
import { showRequest, showSignedCurl } from './delivery-request.ts'

const PATH = '/operator/v1/deliveries'
const OWN_PATH = '/v1/deliveries'
const DELIVERY = '01a1dd3c-58b4-7000-83de-2166a587a47e'

export function deliveriesCommand(): Command {
  return family('deliveries', 'List, explain, retry, replay and cancel deliveries.', [
    ...ownCommands(),
    act('cancel', 'Cancel a pending delivery.'),
    tailCommand(),
  ])
}

/** What an integrator does with its own. */
export function ownDeliveriesCommand(): Command {
  return family('deliveries', 'List, explain, retry and replay deliveries.', ownCommands())
}

function ownCommands(): Command[] {
  return [
    list(),
    show(),
    act(
      'retry',
      'Send a pending delivery now, in the same run; older updates of its payment go first.',
    ),
    act('replay', 'Send an ended delivery again: the same bytes, for a new run of 7 days.'),
  ]
}

export interface FilterOptions {
  state?: DeliveryState[]
  endpoint?: string
  payment?: string
  event?: string
  externalId?: string
  outcome?: string
  job?: string
  client?: string
  account?: string | undefined
  since?: string
  until?: string
}

/** The options by which deliveries are chosen, here and for recovery. */
export function withFilter(command: Command): Command {
  return command
    .option(
      '--state <states>',
      `only these: ${DELIVERY_STATES.join(', ')}`,
      listOf(DELIVERY_STATES),
    )
    .option('--endpoint <id>', 'only to this endpoint', id)
    .option('--payment <id>', 'only of this payment', id)
    .option('--event <id>', 'only of this event', id)
    .option('--external-id <text>', 'only of payments with exactly this external id')
    .option(
      '--outcome <words>',
      'by the last attempt: 503, 5xx, timeout, none; several with commas',
    )
    .option('--job <id>', 'only what this bulk job was about', id)
    .option('--client <id>', 'only of this client', id)
    .option('--account <id>', 'only of this account', id)
}

export function toFilter(options: FilterOptions) {
  return {
    state: options.state?.join(','),
    endpointId: options.endpoint,
    paymentId: options.payment,
    eventId: options.event,
    externalId: options.externalId,
    outcome: options.outcome,
    job: options.job,
    clientId: options.client,
    accountId: options.account,
    from: options.since,
    to: options.until,
  }
}

/** What a client may filter by; anything else would be ignored, and show more than was asked for. */
function toOwn<F extends Record<string, string | undefined>>(filter: F): F {
  for (const [name, option] of Object.entries({
    clientId: 'client',
    eventId: 'event',
    job: 'job',
  })) {
    if (filter[name] !== undefined) throw new UsageError(`--${option} is for operators.`)
  }
  return filter
}

function list(): Command {
  return withCursor(
    withFilter(
      readerCommand('list', 'List deliveries, newest first.', [
        'paybell deliveries list --state EXHAUSTED --since 7d',
        'paybell deliveries list --external-id INV-2026-0042',
        'paybell deliveries list --outcome 5xx,timeout',
        'paybell deliveries list --payment 7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
        'paybell deliveries list --json | jq -r ".items[].id"',
      ]),
    )
      .option('--since <when>', 'only created from then on: 2h, 2026-11-15T06:00:00Z', instant)
      .option('--until <when>', 'only created before then', instant),
  ).action(
    calling(async (call: Call<FilterOptions & CursorOptions>) => {
      const { limit, after } = call.options
      const { api, isOperator } = await call.target.reader()
      const { accountId, ...filter } = toFilter(call.options)
      const answer = isOperator
        ? await api.get(PATH, { ...filter, accountId, limit, after })
        : await api.call('GET', OWN_PATH, { accountId, query: { ...toOwn(filter), limit, after } })
      showCursorPage<OperatorDelivery>(
        call,
        answer,
        [
          { title: 'DELIVERY', of: (delivery) => delivery.id },
          { title: 'STATE', of: ({ state }) => state, isState: true },
          { title: 'ATTEMPTS', of: ({ attempts }) => attempts, right: true },
          { title: 'EXTERNAL ID', of: ({ externalId }) => externalId },
          { title: 'EVENT', of: ({ event }) => event },
          { title: 'SEQ', of: ({ sequence }) => sequence, right: true },
          { title: 'LAST', of: ({ lastOutcome }) => lastOutcome && outcomeText(lastOutcome) },
          { title: 'NEXT ATTEMPT', of: nextAttemptText },
          { title: 'TO', of: ({ endpointUrl }) => endpointUrl },
        ],
        'No results.',
      )
    }),
  )
}

function show(): Command {
  return readerCommand('show', 'Show one delivery: its status in words and every attempt.', [
    `paybell deliveries show ${DELIVERY}`,
    `paybell deliveries show ${DELIVERY} --curl`,
  ])
    .argument('<delivery>', 'id of the delivery', id)
    .option('--curl', 'print the last attempt as a curl command, with its signatures')
    .action(
      calling(async (call: Call<{ curl?: boolean }>, deliveryId: string) => {
        const { api, isOperator } = await call.target.reader()
        const answer = await api.get(`${isOperator ? PATH : OWN_PATH}/${deliveryId}`)
        if (call.options.curl) {
          await showSignedCurl(call, api, answer.json<DeliveryDetail>())
          return
        }
        call.answer<DeliveryDetail>(answer, (delivery) => showDelivery(call, delivery))
      }),
    )
}

function showDelivery(call: Call, delivery: DeliveryDetail): void {
  call.fields([
    ['Delivery', delivery.id],
    ['State', delivery.state],
    ['Event', `${delivery.event}, sequence ${delivery.sequence} (${delivery.eventId})`],
    ['Payment', delivery.paymentId],
    ['External id', delivery.externalId],
    ['Amount', delivery.amount && `${delivery.amount.amount} ${delivery.amount.currency}`],
    ['To', `${delivery.endpointUrl} (${delivery.endpointId})`],
    ['Created', formatTime(delivery.createdAt)],
    ['Next attempt', nextAttemptText(delivery)],
    ['Deadline', formatTime(delivery.deadlineAt)],
  ])
  if (delivery.attemptLog.length > 0) {
    call.print('')
    call.table(
      [
        { title: 'ATTEMPT', of: ({ attempt }) => attempt, right: true },
        { title: 'TIME', of: ({ at }) => formatTime(at) },
        {
          title: 'DURATION',
          of: ({ durationMs }) => formatDuration(durationMs),
          right: true,
        },
        { title: 'STATUS', of: ({ status }) => status, right: true, isState: true },
        { title: 'ERROR', of: ({ error }) => error && outcomeText(error) },
      ],
      delivery.attemptLog,
      '',
    )
  }
  showRequest(call, delivery)
  call.print(`\n${cellText(delivery.explanation)}`)
}

/** Behind another update of its payment it has no time of its own. */
function nextAttemptText({ nextAttemptAt, waitsFor }: Delivery): string | null {
  return waitsFor == null ? formatTime(nextAttemptAt) : `waits for #${waitsFor}`
}

const DONE = { retry: 'is tried now', replay: 'goes out again', cancel: 'is cancelled' } as const

/** Only the operator cancels. */
function act(verb: keyof typeof DONE, about: string): Command {
  const command = verb === 'cancel' ? operatorCommand : readerCommand
  return command(verb, about, [
    `paybell deliveries ${verb} ${DELIVERY}`,
    ...(verb === 'replay' ? ['paybell recover --since 2d --dry-run   # many at once'] : []),
  ])
    .argument('<delivery...>', 'ids of deliveries', collectIds)
    .action(
      calling(async (call: Call, deliveryIds: readonly string[]) => {
        const { api, isOperator } =
          verb === 'cancel'
            ? { api: await call.operator(), isOperator: true }
            : await call.target.reader()
        for (const deliveryId of deliveryIds) {
          await api.post(`${isOperator ? PATH : OWN_PATH}/${deliveryId}/${verb}`)
          if (call.isJson) call.print(JSON.stringify({ id: deliveryId, action: verb }))
          else call.print(`${deliveryId} ${DONE[verb]}.`)
        }
      }),
    )
}

function collectIds(text: string, so: readonly string[] | undefined): string[] {
  return [...(so ?? []), id(text)]
}
