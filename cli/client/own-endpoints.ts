// What an integrator does to an endpoint that exists, the same for webhooks and for subscriptions: list, show, test,
// retry, pause, resume and delete.

import type { Command } from 'commander'
import type { Endpoint, EndpointDetail, TestResult, Webhook } from '../../sdk/src/wire/types.ts'
import { outcomeText } from '../../server/core/delivery/outcome-words.ts'
import { type Call, callCommand, calling } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { endOfAsking, id, instant, oneOf } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import {
  type Cell,
  type Column,
  formatDuration,
  formatTime,
  paintState,
  plural,
} from '../basics/terminal.ts'
import {
  type EndpointFilterOptions,
  healthColumns,
  toFilterQuery,
  withEndpointFilter,
} from './endpoint-filter.ts'
import {
  type SettingsOptions,
  settingFields,
  toSettings,
  withSettings,
} from './endpoint-settings.ts'

/** One of the two doors through which endpoints are made. */
export interface EndpointDoor {
  /** The command: `webhooks`. */
  family: 'webhooks' | 'subscriptions'
  /** One of them, in a sentence. */
  noun: string
  path: string
  /** Webhooks belong to an account, subscriptions to the client as a whole. */
  hasAccount: boolean
  whenEmpty: string
}

const EXAMPLE_ID = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

export function clientCommand(name: string, about: string, examples: readonly string[]): Command {
  return callCommand(name, about, examples)
    .option('--account <id>', 'the account (PAYBELL_ACCOUNT_ID)', id)
    .addHelpText(
      'after',
      '\nThe credentials are PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET (or PAYBELL_CLIENT_KEY_FILE), those of paybell login, or those of the sandbox.',
    )
}

export function endpointCommands(door: EndpointDoor): Command[] {
  return [
    listCommand(door),
    showCommand(door),
    changeCommand(door),
    testCommand(door),
    retryCommand(door),
    replayMissingCommand(door),
    statusCommand(door, 'pause'),
    statusCommand(door, 'resume'),
    deleteCommand(door),
  ]
}

function oneCommand(door: EndpointDoor, name: string, about: string): Command {
  const example = `paybell ${door.family} ${name} ${EXAMPLE_ID}`
  return clientCommand(name, about, [example]).argument(
    `<${door.noun}>`,
    `id of the ${door.noun}`,
    id,
  )
}

interface ListOptions extends PageOptions, EndpointFilterOptions {
  kind?: string
  health?: boolean
}

function listCommand(door: EndpointDoor): Command {
  return door.hasAccount ? listOfAll(door) : listOfKind(door)
}

/** Subscriptions alone. */
function listOfKind({ family, noun, path, whenEmpty }: EndpointDoor): Command {
  const command = clientCommand('list', `List your ${family}.`, [`paybell ${family} list`])
  return withPage(command).action(
    calling(async (call: Call<PageOptions>) => {
      const { page, size } = call.options
      const api = await call.target.client()
      const answer = await api.get(path, { page, size })
      showPage<Endpoint>(call, answer, columnsOf(noun, {}), whenEmpty)
    }),
  )
}

/** Webhooks, or the endpoints of any kind. */
function listOfAll({ family, noun, path, whenEmpty }: EndpointDoor): Command {
  return withPage(
    withEndpointFilter(
      clientCommand('list', `List the ${family} of an account, or its endpoints of any kind.`, [
        `paybell ${family} list`,
        `paybell ${family} list --failing`,
        `paybell ${family} list --kind any --health --sort failingSince`,
        `paybell ${family} list --search shop --json`,
      ]).option(
        '--kind <kind>',
        'webhook (the default), subscription, listener or any',
        oneOf(['webhook', 'subscription', 'listener', 'any']),
      ),
    ).option('--health', 'with what is pending and since when it fails, as --failing has it'),
  ).action(
    calling(async (call: Call<ListOptions>) => {
      const { page, size, kind, failing } = call.options
      const health = call.options.health ?? failing
      const api = await call.target.client()
      const filter = toFilterQuery(call.options)
      const answer = await api.call('GET', path, {
        accountId: await call.target.accountId(),
        query: { page, size, kind, health, ...filter },
      })
      const isFiltered = Object.values(filter).some((value) => value !== undefined)
      const nothing = failing ? 'No endpoint is failing.' : 'No endpoint matches.'
      showPage<Webhook>(
        call,
        answer,
        columnsOf(kind === undefined ? noun : 'endpoint', {
          hasKind: kind !== undefined,
          hasHealth: health === true,
        }),
        isFiltered || kind !== undefined ? nothing : whenEmpty,
      )
    }),
  )
}

function columnsOf(
  noun: string,
  { hasKind = false, hasHealth = false }: { hasKind?: boolean; hasHealth?: boolean },
): readonly Column<Webhook>[] {
  return [
    { title: noun.toUpperCase(), of: (endpoint) => endpoint.id },
    ...(hasKind ? [{ title: 'KIND', of: ({ kind }: Webhook) => kind }] : []),
    { title: 'STATUS', of: ({ status }) => status, isState: true },
    ...(hasHealth ? healthColumns() : []),
    { title: 'SIGNATURE', of: ({ hmacHeaderName }) => hmacHeaderName },
    { title: 'ADDRESS', of: ({ endpointUrl }) => endpointUrl },
  ]
}

function showCommand(door: EndpointDoor): Command {
  return oneCommand(door, 'show', `Show one ${door.noun} and its health.`).action(
    calling(async (call: Call, endpointId: string) => {
      const api = await call.target.client()
      const answer = await api.get(`${door.path}/${endpointId}`)
      call.answer<EndpointDetail>(answer, ({ health, ...endpoint }) => {
        call.fields([
          ...fieldsOf(door, endpoint),
          ['Pending', health.pending],
          ['Circuit', health.circuit],
          ['Last success', formatTime(health.lastSuccessAt)],
          ['Last error', health.lastError && outcomeText(health.lastError)],
          ['Failing since', formatTime(health.failingSince)],
          ['Next probe', formatTime(health.nextProbeAt)],
        ])
        if (health.pending > 0) {
          call.note(`See them: paybell deliveries list --state PENDING --endpoint ${endpoint.id}`)
        }
      })
    }),
  )
}

function changeCommand(door: EndpointDoor): Command {
  const { family, noun, path } = door
  return withSettings(
    clientCommand('change', `Change what a ${noun} gets, and how.`, [
      `paybell ${family} change ${EXAMPLE_ID} --events payment.paid,payment.cancelled`,
      `paybell ${family} change ${EXAMPLE_ID} --document link --description "Ledger"`,
    ]),
  )
    .argument(`<${noun}>`, `id of the ${noun}`, id)
    .action(
      calling(async (call: Call<SettingsOptions>, endpointId: string) => {
        const body = toSettings(call.options)
        if (Object.keys(body).length === 0) throw new UsageError('give a setting to change.')
        const api = await call.target.client()
        // The parts of each are one setting: what was not given of it stays.
        if (body.tls || body.oauth2) {
          const shown = (await api.get(`${path}/${endpointId}`)).json<Endpoint>()
          if (body.tls) body.tls = { ...shown.tls, ...body.tls }
          if (body.oauth2) body.oauth2 = { ...shown.oauth2, ...body.oauth2 }
        }
        const answer = await api.call('PATCH', `${path}/${endpointId}`, { body })
        call.answer<Endpoint>(answer, (endpoint) => {
          call.fields(fieldsOf(door, endpoint))
          if (body.events !== undefined) {
            call.note(
              `It holds from now on. Events from before: paybell ${family} replay-missing ${endpointId} --since 30d`,
            )
          }
        })
      }),
    )
}

function fieldsOf(
  { noun }: EndpointDoor,
  endpoint: Endpoint,
): readonly (readonly [string, Cell])[] {
  return [
    [capital(noun), endpoint.id],
    ['Address', endpoint.endpointUrl],
    ['Status', endpoint.status],
    ['Signature', `${endpoint.hmacHeaderName}, ${endpoint.algorithm}`],
    ...settingFields(endpoint),
  ]
}

function testCommand(door: EndpointDoor): Command {
  return oneCommand(door, 'test', `Send a signed test callback to a ${door.noun}.`).action(
    calling(async (call: Call, endpointId: string) => {
      const api = await call.target.client()
      const answer = await api.post(`${door.path}/${endpointId}/test`)
      const result = answer.json<TestResult>()
      call.answer<TestResult>(answer, ({ delivered, status, durationMs, error }) => {
        const what = status === null ? outcomeText(error ?? 'no answer') : String(status)
        call.print(
          `${delivered ? 'Delivered' : 'Not delivered'}: ${paintState(what, call.paint)} after ${formatDuration(durationMs)}.`,
        )
        if (!delivered) call.note('Only the status 200 counts as delivered.')
      })
      if (!result.delivered) throw new SilentFailure()
    }),
  )
}

function retryCommand(door: EndpointDoor): Command {
  const about = `Try all pending deliveries of a ${door.noun} now, in order.`
  return oneCommand(door, 'retry', about).action(
    calling(async (call: Call, endpointId: string) => {
      const api = await call.target.client()
      const answer = await api.post(`${door.path}/${endpointId}/retry`)
      call.answer<{ retried: number }>(answer, ({ retried }) => {
        const what = plural(retried, 'delivery is', 'deliveries are')
        call.print(retried === 0 ? 'It has no pending deliveries.' : `${what} tried now.`)
      })
    }),
  )
}

interface MissingOptions {
  since: string
  until?: string
  events?: string
  dryRun?: boolean
  yes?: boolean
}

function replayMissingCommand(door: EndpointDoor): Command {
  const { family, noun, path } = door
  return clientCommand('replay-missing', `Send events that a ${noun} was never owed.`, [
    `paybell ${family} replay-missing ${EXAMPLE_ID} --since 30d --dry-run`,
    `paybell ${family} replay-missing ${EXAMPLE_ID} --since 30d --events payment.paid`,
  ])
    .argument(`<${noun}>`, `id of the ${noun}`, id)
    .requiredOption('--since <when>', 'made from then on: 2h, 2026-11-15T06:00:00Z', instant)
    .option('--until <when>', 'made before then', instant)
    .option('--events <kinds>', 'only these kinds, with commas')
    .option('--dry-run', 'only count them')
    .option('--yes', 'do not ask for confirmation')
    .action(
      calling((call: Call<MissingOptions>, endpointId: string) =>
        replayMissing(call, `${path}/${endpointId}/replay-missing`, noun),
      ),
    )
}

async function replayMissing(
  call: Call<MissingOptions>,
  path: string,
  noun: string,
): Promise<void> {
  const { since, events, dryRun } = call.options
  const until = endOfAsking(since, call.options.until)
  const api = await call.target.client()
  const body = {
    since,
    ...(until ? { until } : {}),
    ...(events ? { events: events.split(',') } : {}),
  }
  const trial = await api.post(`${path}?dryRun=true`, body)
  const { wouldQueue } = trial.json<{ wouldQueue: number }>()
  const what = plural(wouldQueue, 'event', 'events')
  if (dryRun || wouldQueue === 0) {
    if (call.isJson) call.print(trial.text)
    else call.print(dryRun ? `${what} would be sent.` : 'Nothing is missing.')
    return
  }
  await call.confirm(`Send ${what} to this ${noun}?`)
  const answer = await api.post(path, body)
  call.answer<{ queued: number }>(answer, ({ queued }) => {
    call.print(`${plural(queued, 'delivery is', 'deliveries are')} on the way, oldest first.`)
  })
}

const STATUS = {
  pause: {
    status: 'PAUSED',
    about: (noun: string) => `Pause a ${noun}: its deliveries wait.`,
    done: 'is paused: its deliveries wait',
  },
  resume: {
    status: 'ACTIVE',
    about: (noun: string) => `Resume a ${noun} that is paused or was disabled.`,
    done: 'is active: its deliveries go out, in order',
  },
} as const

function statusCommand(door: EndpointDoor, verb: keyof typeof STATUS): Command {
  const { status, about, done } = STATUS[verb]
  return oneCommand(door, verb, about(door.noun)).action(
    calling(async (call: Call, endpointId: string) => {
      const api = await call.target.client()
      const answer = await api.call('PATCH', `${door.path}/${endpointId}`, { body: { status } })
      call.answer(answer, () => call.print(`The ${door.noun} ${endpointId} ${done}.`))
    }),
  )
}

function deleteCommand(door: EndpointDoor): Command {
  const about = `Delete a ${door.noun}. Its pending deliveries are cancelled.`
  return oneCommand(door, 'delete', about).action(
    calling(async (call: Call, endpointId: string) => {
      const api = await call.target.client()
      await api.call('DELETE', `${door.path}/${endpointId}`)
      if (call.isJson) call.print(JSON.stringify({ deleted: endpointId }))
      else call.print(`The ${door.noun} ${endpointId} is deleted.`)
    }),
  )
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
