// `paybell clients …`: onboarding. A secret is shown once, by the call that makes it.

import type { Command } from 'commander'
import type {
  Account,
  ClientItem,
  ClientWithSecrets,
  ConsoleLink,
  NewClient,
  NewSecret,
} from '../../sdk/src/internal/operator-types.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, family, operatorCommand, required } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id, oneOf } from '../basics/parse.ts'
import { formatTime, paintState } from '../basics/terminal.ts'
import { moveClientCommand } from './cells.ts'
import { clientKeysCommand } from './client-keys.ts'

const PATH = '/operator/v1/clients'
const HAND_OVER = 'Hand the secret over now: it is not shown again.'
const ORDERS = ['createdAt', '-createdAt', 'name', '-name'] as const

export function clientsCommand(): Command {
  return family('clients', 'Create and manage clients and their credentials.', [
    create(),
    list(),
    show(),
    change('disable', 'DISABLED', 'Disable a client: its tokens stop working within 5 seconds.'),
    change('enable', 'ACTIVE', 'Enable a disabled client again.'),
    rotate(),
    clientKeysCommand(),
    link(),
    moveClientCommand(),
  ])
}

function create(): Command {
  return operatorCommand('create', 'Create a client, and an account if you name one.', [
    'paybell clients create "Northwind Traders"',
    'paybell clients create "Northwind Traders" --account Main --json',
  ])
    .argument('<name>', 'what to call it')
    .option('--account <name>', 'also open an account with this name')
    .action(calling(createClient))
}

async function createClient(call: Call<{ account?: string }>, name: string): Promise<void> {
  const api = await call.operator()
  const answer = await api.post(PATH, { name })
  const client = answer.json<NewClient>()
  // Printed before the next call, which may fail or be broken off: the secret is not shown again.
  if (!call.isJson) {
    call.fields([
      ['Client id', client.clientId],
      ['Client secret', client.clientSecret],
      ['Name', client.name],
    ])
  }
  const accountName = call.options.account
  let account: Account | null = null
  try {
    if (accountName) {
      const path = `${PATH}/${client.clientId}/accounts`
      account = (await api.post(path, { name: accountName })).json<Account>()
      if (!call.isJson) call.fields([['Account id   ', account.id]])
    }
  } finally {
    if (call.isJson) call.print(account ? JSON.stringify({ ...client, account }) : answer.text)
    else call.note(HAND_OVER)
  }
  if (!accountName && !call.isJson) {
    call.note(`Next: paybell accounts create ${client.clientId} "Main"`)
  }
}

function list(): Command {
  return withPage(
    operatorCommand('list', 'List clients.', [
      'paybell clients list',
      'paybell clients list --search northwind',
      'paybell clients list --json | jq -r ".content[].clientId"',
    ])
      .option('--search <words>', 'only with these words in the name')
      .option('--sort <order>', 'createdAt, -createdAt, name or -name', oneOf(ORDERS)),
  ).action(
    calling(async (call: Call<PageOptions & { search?: string; sort?: string }>) => {
      const { page, size, search: q, sort } = call.options
      const answer = await (await call.operator()).get(PATH, { page, size, q, sort })
      showPage<ClientItem>(
        call,
        answer,
        [
          { title: 'CLIENT', of: ({ clientId }) => clientId },
          { title: 'STATUS', of: ({ status }) => status, isState: true },
          { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
          { title: 'NAME', of: ({ name }) => name },
        ],
        'No clients. Create one: paybell clients create NAME',
      )
    }),
  )
}

function show(): Command {
  return operatorCommand('show', 'Show one client and the ids of its secrets.', [
    'paybell clients show 01a1dd3c-57d6-7001-9e6f-60de241483ec',
  ])
    .argument('<client>', 'id of the client', id)
    .action(
      calling(async (call: Call, clientId: string) => {
        const answer = await (await call.operator()).get(`${PATH}/${clientId}`)
        call.answer<ClientWithSecrets>(answer, (client) => {
          call.fields([
            ['Client id', client.clientId],
            ['Name', client.name],
            ['Status', client.status],
            ['Created', formatTime(client.createdAt)],
          ])
          for (const { secretId, createdAt } of client.secrets) {
            call.print(
              `${call.paint.dim('Secret')}     ${secretId}, since ${formatTime(createdAt)}`,
            )
          }
        })
      }),
    )
}

function change(verb: string, status: string, about: string): Command {
  return operatorCommand(verb, about, [
    `paybell clients ${verb} 01a1dd3c-57d6-7001-9e6f-60de241483ec`,
  ])
    .argument('<client>', 'id of the client', id)
    .action(
      calling(async (call: Call, clientId: string) => {
        const api = await call.operator()
        const answer = await api.call('PATCH', `${PATH}/${clientId}`, { body: { status } })
        call.answer<ClientItem>(answer, (client) => {
          call.print(`${client.name} is ${paintState(client.status, call.paint)}.`)
        })
      }),
    )
}

function link(): Command {
  return operatorCommand('link', 'Make a link that signs a person in at the console as a client.', [
    'paybell clients link 01a1dd3c-57d6-7001-9e6f-60de241483ec',
  ])
    .argument('<client>', 'id of the client', id)
    .action(
      calling(async (call: Call, clientId: string) => {
        const answer = await (await call.operator()).post(`${PATH}/${clientId}/console-links`)
        call.answer<ConsoleLink>(answer, ({ url, expiresAt }) => {
          call.print(url)
          call.note(
            `It works once, until ${formatTime(expiresAt)}. Hand it over as you would a password.`,
          )
        })
      }),
    )
}

function rotate(): Command {
  return operatorCommand(
    'rotate',
    'Issue a new secret; revoke the old one when it is no longer used.',
    [
      'paybell clients rotate 01a1dd3c-57d6-7001-9e6f-60de241483ec',
      'paybell clients rotate 01a1dd3c-57d6-7001-9e6f-60de241483ec --revoke-old',
      'paybell clients rotate 01a1dd3c-57d6-7001-9e6f-60de241483ec --revoke 01a1dd3c-6b1f-7000-a1c2-0f5e6d7c8b9a',
    ],
  )
    .argument('<client>', 'id of the client', id)
    .option('--revoke-old', 'revoke all other secrets at once: those who still use one get a 401')
    .option('--revoke <secret>', 'only revoke this secret, and issue none', id)
    .action(calling(rotateSecret))
}

async function rotateSecret(
  call: Call<{ revokeOld?: boolean; revoke?: string }>,
  clientId: string,
): Promise<void> {
  const api = await call.operator()
  const { revoke, revokeOld } = call.options
  if (revoke !== undefined) {
    await api.call('DELETE', `${PATH}/${clientId}/secrets/${revoke}`)
    if (call.isJson) call.print(JSON.stringify({ revoked: [revoke] }))
    else call.print(`The secret ${revoke} is revoked.`)
    return
  }
  const before = await readSecrets(api, clientId)
  const answer = await api.post(`${PATH}/${clientId}/secrets`)
  const issued = answer.json<NewSecret>()
  // Printed before the next call, as that of a new client.
  if (!call.isJson) {
    call.fields([
      ['Secret id', issued.secretId],
      ['Client secret', issued.clientSecret],
    ])
  }
  const revoked: string[] = []
  try {
    for (const secretId of revokeOld ? before : []) {
      await api.call('DELETE', `${PATH}/${clientId}/secrets/${secretId}`)
      revoked.push(secretId)
      if (!call.isJson) call.fields([['Revoked      ', secretId]])
    }
  } finally {
    if (call.isJson) call.print(JSON.stringify({ ...issued, revoked }))
    else call.note(HAND_OVER)
  }
  const old = revokeOld ? undefined : before[0]
  if (old && !call.isJson) {
    call.note(`Both secrets work. When the new one is in use:
  paybell clients rotate ${clientId} --revoke ${old}`)
  }
}

async function readSecrets(api: Api, clientId: string): Promise<readonly string[]> {
  const client = (await api.get(`${PATH}/${clientId}`)).json<ClientWithSecrets>()
  return required(client.secrets, 'the service does not tell the secrets').map(
    ({ secretId }) => secretId,
  )
}
