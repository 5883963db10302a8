// `paybell reconcile`: holds the ids that a receiver has, one per line in a file, against the service's signed statement,
// and names those that differ. For receivers that keep their ids themselves, in any language.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  listenerCalls,
  subscriptionCalls,
  webhookCalls,
} from '../../sdk/src/calling/endpoint-calls.ts'
import { deliveryCalls } from '../../sdk/src/calling/history-calls.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { hourOf, isWithin, receivedFromIds, type Window } from '../../sdk/src/plain/ids-digest.ts'
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from '../../sdk/src/proving/reconcile.ts'
import { isUuid } from '../../server/core/plain/uuid.ts'
import type { Api } from '../basics/api.ts'
import { type Call, callCommand, calling } from '../basics/command.ts'
import { readGivenOrInput } from '../basics/given-file.ts'
import { id, instant } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { formatCount, formatTime, plural } from '../basics/terminal.ts'
import { KEYS_PATH, readKeySet } from './key-set.ts'

interface Options {
  ids: string
  since?: string
  until?: string
  kind: string
  keys?: string
  recover?: boolean
}

const HOUR_MS = 3_600_000
/** A long period that is counted for the first time takes several calls. */
const CALLS_MAX = 60
const KINDS = { webhook: 'webhooks', subscription: 'subscriptions', listener: 'listeners' } as const
const NAMES = ['missing', 'unconfirmed', 'unknown', 'doubled'] as const
/** What each kind of undelivered event means for whoever waits for it. */
const MEANINGS = {
  cancelled: 'cancelled: never delivered, and not sent any more',
  exhausted: 'exhausted: never delivered',
  pending: 'pending: still to come',
} as const

export function reconcileCommand(): Command {
  return callCommand(
    'reconcile',
    'Compare the ids that your receiver has with what was delivered; exit 1 unless nothing is missing.',
    [
      'paybell reconcile 01a1dd3c-57d6-7001-9e6f-60de241483ec --ids received.txt',
      'paybell reconcile 01a1dd3c-57d6-7001-9e6f-60de241483ec --ids - --since 7d --recover',
      'paybell reconcile 01a1dd3c-57d6-7001-9e6f-60de241483ec --ids received.txt --keys webhook-keys.json',
    ],
  )
    .argument('<endpoint id>', 'the webhook, subscription or listener', id)
    .requiredOption('--ids <file>', 'the webhook-id of each callback, one per line; - reads stdin')
    .option('--since <when>', 'from the hour of this time on (default: 24h ago)', instant)
    .option(
      '--until <when>',
      'up to the hour of this time (default: now, with the open hour, which can still change)',
      instant,
    )
    .option('--kind <kind>', 'webhook, subscription or listener', 'webhook')
    .option('--keys <file>', `a saved ${KEYS_PATH}: no other keys are trusted`)
    .option('--recover', 'have what is missing or exhausted sent again')
    .addHelpText(
      'after',
      '\nThe credentials are PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET (or PAYBELL_CLIENT_KEY_FILE), or those of the sandbox.',
    )
    .action(calling(compare))
}

async function compare(call: Call<Options>, endpointId: string): Promise<void> {
  const { options } = call
  const kind = KINDS[options.kind as keyof typeof KINDS]
  if (kind === undefined) throw new UsageError('--kind is webhook, subscription or listener.')
  const ids = await readIds(options.ids)
  const api = await call.target.client()
  const nowMs = await readServiceTime(api)
  const window = toWindow(options, nowMs)
  const store = await receivedFromIds(ids)
  const { caller } = api
  const client = {
    webhooks: webhookCalls(caller),
    subscriptions: subscriptionCalls(caller),
    listeners: listenerCalls(caller),
    deliveries: deliveryCalls(caller),
    call: caller.call,
  }
  const { recover } = options
  const keys = options.keys === undefined ? undefined : await readKeySet(options.keys)
  const settings: ReconcileOptions = { client, endpointId, kind, recover, keys }
  const compared = await patiently(call, () => reconcile(store, window, settings))
  const outside = outsideOf(ids, window, nowMs)
  // By default the window ends with the open hour: what is newer was not compared with anything.
  const isRest = options.until === undefined && outside.after > 0
  const isComplete = compared.isComplete && outside.impossible.length === 0 && !isRest
  const result = { ...compared, isComplete }
  if (call.isJson) call.print(JSON.stringify({ ...result, outside }))
  else show(call, result, outside)
  if (!isComplete) throw new SilentFailure()
}

/** Ids of the file that belong to no hour that was compared. */
interface Outside {
  before: number
  after: number
  /** Of no hour, or of one to come: the service has never made such an id. */
  impossible: readonly string[]
}

function outsideOf(ids: readonly string[], window: Window, nowMs: number): Outside {
  const impossible: string[] = []
  let [before, after] = [0, 0]
  for (const one of ids) {
    const hour = hourOf(one)
    // Processes of the service may be a little apart.
    if (hour === undefined || Date.parse(hour) > nowMs + HOUR_MS) impossible.push(one)
    else if (isWithin(hour, window)) continue
    else if (Date.parse(hour) < new Date(window.from).getTime()) before += 1
    else after += 1
  }
  return { before, after, impossible }
}

/** The ids of a file: the first word of each line. */
async function readIds(file: string): Promise<string[]> {
  const content = await readGivenOrInput(file)
  return content.split('\n').flatMap((line, at) => {
    const [first = ''] = line.trim().split(/\s+/)
    if (first === '') return []
    if (!isUuid(first)) throw new UsageError(`line ${at + 1} of ${file} does not begin with an id.`)
    return [first.toLowerCase()]
  })
}

/**
 * The service's clock says which hour is open: one that this machine thinks has begun, and the service not, would be refused.
 * By an answer about the client itself, because behind a route each cell has a clock of its own.
 */
async function readServiceTime(api: Api): Promise<number> {
  const { headers } = await api.get('/v1/webhooks', { size: 1 })
  const ms = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? Date.now() : ms
}

function toWindow({ since, until }: Options, nowMs: number): Window {
  const startOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS
  const untilMs = until === undefined ? nowMs : Date.parse(until)
  const toMs = startOf(untilMs)
  const fromMs = since === undefined ? toMs - 24 * HOUR_MS : startOf(Date.parse(since))
  // An hour that is named by its middle is meant as a whole.
  const isWhole = untilMs === toMs
  return { from: new Date(fromMs), to: new Date(isWhole ? toMs : toMs + HOUR_MS) }
}

async function patiently(call: Call, work: () => Promise<Reconciliation>): Promise<Reconciliation> {
  for (let calls = 1; ; calls++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PaybellError) || error.code !== 'overloaded') throw error
      if (calls === CALLS_MAX) throw error
      call.note('The service is still counting.')
      await delay((error.retryAfterSeconds ?? 1) * 1_000)
    }
  }
}

function show(call: Call, result: Reconciliation, outside: Outside): void {
  const { isComplete, isFinal, statement, undelivered, differences, recovered } = result
  const { from, to, owed, delivered } = statement
  call.note(
    `From ${formatTime(from)} to ${formatTime(to)}: ${formatCount(owed)} owed, ${formatCount(delivered)} delivered.`,
  )
  for (const hour of differences) {
    for (const name of NAMES) {
      for (const one of hour[name]) call.print(`${name} ${one}`)
    }
  }
  for (const one of outside.impossible) call.print(`unknown ${one}`)
  if (outside.before + outside.after > 0) call.note(`${whatIsOutside(outside)}: not compared.`)
  if (recovered > 0) call.note(`${formatCount(recovered)} are sent again.`)
  if (!result.areKeysPinned) {
    call.note(
      `The service's own keys were used: to trust no others, save ${KEYS_PATH} and give --keys.`,
    )
  }
  if (!isFinal) call.note('Some of it can still change: ask again later.')
  if (isComplete) call.print(call.paint.green('Nothing is missing.'))
  else
    call.note(call.paint.red(`Not complete: ${whatIsMissing(undelivered, differences, outside)}.`))
}

function whatIsMissing(
  undelivered: Reconciliation['undelivered'],
  differences: Reconciliation['differences'],
  outside: Outside,
): string {
  const parts = Object.entries(undelivered).flatMap(([fate, count]) =>
    count > 0 ? [`${formatCount(count)} ${MEANINGS[fate as keyof typeof MEANINGS]}`] : [],
  )
  const hours = differences.length
  if (hours > 0)
    parts.push(`${formatCount(hours)} ${hours === 1 ? 'hour differs' : 'hours differ'}`)
  const { impossible, after } = outside
  if (impossible.length > 0)
    parts.push(`${plural(impossible.length, 'id')} that Paybell never made`)
  // Nothing else is wrong: then it is these.
  return parts.join('; ') || `${plural(after, 'newer id')} not compared`
}

function whatIsOutside({ before, after }: Outside): string {
  const parts = [
    ...(before > 0 ? [`${plural(before, 'id')} from before this period`] : []),
    ...(after > 0 ? [`${plural(after, 'id')} from after it`] : []),
  ]
  return parts.join(' and ')
}
