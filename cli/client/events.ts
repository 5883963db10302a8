// `paybell events …`: the feed of a client's events, in one order for every reader, and the bytes of one.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { toExactJson } from '../../sdk/src/plain/money.ts'
import type { EventPage, PaymentEvent } from '../../sdk/src/wire/types.ts'
import type { Answer, Api } from '../basics/api.ts'
import { type Call, calling, family } from '../basics/command.ts'
import { type CursorOptions, withCursor } from '../basics/lists.ts'
import { durationOption, id, integer } from '../basics/parse.ts'
import { untilSignal } from '../basics/run.ts'
import { type Column, formatTable, formatTime, type Paint } from '../basics/terminal.ts'
import { clientCommand } from './own-endpoints.ts'

const PATH = '/v1/events'
const EVENT = '01a1dd3c-58b4-7000-83de-2166a587a47e'

export function eventsCommand(): Command {
  return family('events', 'Read the events of your payments, oldest first.', [
    list(),
    follow(),
    body(),
  ])
}

const COLUMNS: readonly Column<PaymentEvent>[] = [
  { title: 'EVENT ID', of: (event) => event.id },
  { title: 'EVENT', of: ({ event }) => event },
  { title: 'SEQ', of: ({ sequence }) => sequence, right: true },
  { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  { title: 'PAYMENT', of: ({ payment }) => payment.id },
  { title: 'EXTERNAL ID', of: ({ payment }) => payment.externalId },
]

function list(): Command {
  return withCursor(
    clientCommand('list', 'List events, oldest first.', [
      'paybell events list --limit 10',
      'paybell events list --after CURSOR --json',
    ]),
  ).action(
    calling(async (call: Call<CursorOptions>) => {
      const answer = await readPage(await call.target.client(), call.options)
      call.answer<EventPage>(answer, ({ items, next }) => {
        call.table(COLUMNS, items, 'There are no more events.')
        // The feed has a cursor at its end, too: to come back with.
        call.note(`What comes after: --after ${next}`)
      })
    }),
  )
}

interface FollowOptions extends CursorOptions {
  count?: number
  every: number
}

function follow(): Command {
  return withCursor(
    clientCommand('follow', 'Print events as they come, from the oldest on or after a cursor.', [
      'paybell events follow --json | jq -r .payment.status.state',
    ]),
  )
    .addOption(durationOption('--every <span>', 'how often to look', '1s'))
    .option('--count <n>', 'stop after n events', integer(1, 1_000_000_000))
    .action(calling(followEvents))
}

async function followEvents(call: Call<FollowOptions>): Promise<void> {
  const { limit, account, every, count = Number.POSITIVE_INFINITY } = call.options
  // One for all pages: each has a token of its own.
  const api = await call.target.client()
  const stopped = new AbortController()
  void untilSignal().then(() => stopped.abort())
  let after = call.options.after
  for (let printed = 0; !stopped.signal.aborted; ) {
    const { items, next } = (await readPage(api, { limit, after, account })).json<EventPage>()
    for (const event of items) {
      call.print(call.isJson ? eventJson(event) : lineOf(event, call.paint))
      if (++printed >= count) return
    }
    after = next
    if (items.length === 0) await delay(every, undefined, stopped).catch(() => {})
  }
}

/** The amount with all its digits, as a number. */
function eventJson({ payment, ...event }: PaymentEvent): string {
  return `${JSON.stringify(event).slice(0, -1)},"payment":${toExactJson(payment)}}`
}

/** As a row of the list, without its heading. */
function lineOf(event: PaymentEvent, paint: Paint): string {
  return formatTable(COLUMNS, [event], paint).split('\n').at(-1) as string
}

async function readPage(
  api: Api,
  { limit, after, account }: CursorOptions & { account?: string | undefined },
): Promise<Answer> {
  return api.call('GET', PATH, { accountId: account, query: { limit, after } })
}

function body(): Command {
  return clientCommand('body', 'Print the exact bytes that the callbacks of an event carry.', [
    `paybell events body ${EVENT} > body.json`,
  ])
    .argument('<event>', 'id of the event (webhook-id)', id)
    .action(
      calling(async (call: Call, eventId: string) => {
        const { account } = call.options
        const api = await call.target.client()
        const { bytes } = await api.call('GET', `${PATH}/${eventId}`, { accountId: account })
        process.stdout.write(bytes)
      }),
    )
}
