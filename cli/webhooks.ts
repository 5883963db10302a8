// `paybell webhooks …`: what an integrator does, with a client's credentials.

import type { Command } from 'commander'
import type { Endpoint, Page, TestResult } from '../sdk/src/types.ts'
import type { Api } from './api.ts'
import { type Call, callCommand, calling, family } from './command.ts'
import { type PageOptions, showPage, withPage } from './lists.ts'
import { id } from './parse.ts'
import { SilentFailure, UsageError } from './run.ts'
import {
  generateSharedKey,
  requireSharedKey,
  type SharedKeyOptions,
  withSharedKey,
} from './shared-key.ts'
import { formatSpan, paintState, plural } from './terminal.ts'

const WEBHOOK = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

export function webhooksCommand(): Command {
  return family(
    'webhooks',
    "Register, list, test, retry and delete webhooks, with a client's credentials.",
    [register(), list(), testSend(), retry(), remove()],
  )
}

function clientCommand(name: string, about: string, examples: readonly string[]): Command {
  return callCommand(name, about, examples)
    .option('--account <id>', 'the account (PAYBELL_ACCOUNT_ID)', id)
    .addHelpText(
      'after',
      '\nThe credentials are PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET, or those of the sandbox.',
    )
}

function register(): Command {
  return withSharedKey(
    clientCommand('register', 'Register an address for the callbacks of an account.', [
      'paybell webhooks register https://shop.example.com/hooks --generate-key',
      'paybell webhooks register http://127.0.0.1:8099/ --shared-key-file key.txt',
    ]),
  )
    .argument('<url>', 'address that takes the callbacks')
    .option('--generate-key', 'make a shared key and print it')
    .action(calling(registerWebhook))
}

async function registerWebhook(
  call: Call<SharedKeyOptions & { generateKey?: boolean }>,
  callbackUrl: string,
): Promise<void> {
  const { generateKey } = call.options
  if (generateKey && (call.options.sharedKey ?? call.options.sharedKeyFile) !== undefined) {
    throw new UsageError('give a shared key or --generate-key, not both.')
  }
  const sharedKey = generateKey ? generateSharedKey() : await requireSharedKey(call)
  const api = await call.target.client()
  const accountId = await call.target.accountId()
  await api.post('/v1/webhooks/register', { callbackUrl, sharedKey }, { accountId })
  // The answer is empty, by the interface; the list tells the id and the name of the header.
  const webhook = await findWebhook(api, accountId, callbackUrl)
  if (call.isJson) {
    call.print(JSON.stringify(generateKey ? { ...webhook, sharedKey } : webhook))
    return
  }
  call.fields([
    ['Webhook', webhook?.id],
    ['Address', webhook?.endpointUrl ?? callbackUrl],
    ['Signature', webhook ? `${webhook.hmacHeaderName}, ${webhook.algorithm}` : null],
    ['Status', webhook?.status],
    ...(generateKey ? ([['Shared key', sharedKey]] as const) : []),
  ])
  if (generateKey) call.note('Keep the shared key: it is not shown again.')
  if (webhook) call.note(`Try it: paybell webhooks test ${webhook.id}`)
}

async function findWebhook(
  api: Api,
  accountId: string,
  callbackUrl: string,
): Promise<Endpoint | null> {
  const wanted = new URL(callbackUrl).href
  for (let page = 0; ; page++) {
    const answer = await api.call('GET', '/v1/webhooks/list', {
      accountId,
      query: { page, size: 100 },
    })
    const body = answer.json<Page<Endpoint>>()
    const found = body.content.find(({ endpointUrl }) => new URL(endpointUrl).href === wanted)
    if (found) return found
    if (page + 1 >= body.totalPages) return null
  }
}

function list(): Command {
  return withPage(
    clientCommand('list', 'List the webhooks of an account.', ['paybell webhooks list']),
  ).action(
    calling(async (call: Call<PageOptions>) => {
      const { page, size } = call.options
      const api = await call.target.client()
      const answer = await api.call('GET', '/v1/webhooks/list', {
        accountId: await call.target.accountId(),
        query: { page, size },
      })
      showPage<Endpoint>(
        call,
        answer,
        [
          { title: 'WEBHOOK', of: (webhook) => webhook.id },
          {
            title: 'STATUS',
            of: ({ status }) => status,
            paint: (text) => paintState(text, call.paint),
          },
          { title: 'SIGNATURE', of: ({ hmacHeaderName }) => hmacHeaderName },
          { title: 'ADDRESS', of: ({ endpointUrl }) => endpointUrl },
        ],
        'No webhooks. Register one: paybell webhooks register URL --generate-key',
      )
    }),
  )
}

function testSend(): Command {
  return clientCommand('test', 'Send a signed test callback to a webhook.', [
    `paybell webhooks test ${WEBHOOK}`,
  ])
    .argument('<webhook>', 'id of the webhook', id)
    .action(
      calling(async (call: Call, webhookId: string) => {
        const api = await call.target.client()
        const answer = await api.post(`/v1/webhooks/${webhookId}/test`)
        const result = answer.json<TestResult>()
        call.answer<TestResult>(answer, ({ delivered, status, durationMs, error }) => {
          const what = status === null ? (error ?? 'no answer') : String(status)
          call.print(
            `${delivered ? 'Delivered' : 'Not delivered'}: ${paintState(what, call.paint)} after ${formatSpan(durationMs)}.`,
          )
          if (!delivered) call.note('Only the status 200 counts as delivered.')
        })
        if (!result.delivered) throw new SilentFailure()
      }),
    )
}

function retry(): Command {
  return clientCommand('retry', 'Try everything now that a webhook is owed, in order.', [
    `paybell webhooks retry ${WEBHOOK}`,
  ])
    .argument('<webhook>', 'id of the webhook', id)
    .action(
      calling(async (call: Call, webhookId: string) => {
        const api = await call.target.client()
        const answer = await api.post(`/v1/webhooks/${webhookId}/retry`)
        call.answer<{ retried: number }>(answer, ({ retried }) => {
          const what = plural(retried, 'delivery is', 'deliveries are')
          call.print(retried === 0 ? 'Nothing is owed to it.' : `${what} tried now.`)
        })
      }),
    )
}

function remove(): Command {
  return clientCommand('delete', 'Delete a webhook. Its pending deliveries are cancelled.', [
    `paybell webhooks delete ${WEBHOOK}`,
  ])
    .argument('<webhook>', 'id of the webhook', id)
    .action(
      calling(async (call: Call, webhookId: string) => {
        const api = await call.target.client()
        await api.call('DELETE', `/v1/webhooks/${webhookId}`)
        if (call.isJson) call.print(JSON.stringify({ deleted: webhookId }))
        else call.print(`The webhook ${webhookId} is deleted.`)
      }),
    )
}
