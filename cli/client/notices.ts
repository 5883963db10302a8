// `paybell notices …`: where a client gets notices about its own endpoints, and the newest of them.

import type { Command } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type { Notices } from '../../sdk/src/wire/types.ts'
import type { Answer } from '../basics/api.ts'
import { type Call, calling, family } from '../basics/command.ts'
import { SilentFailure } from '../basics/run.ts'
import { type Column, formatTime } from '../basics/terminal.ts'
import { chooseSharedKey, type NewKeyOptions, withNewKey } from '../receiving/shared-key.ts'
import { clientCommand } from './own-endpoints.ts'

const PATH = '/v1/notices'

export function noticesCommand(): Command {
  return family(
    'notices',
    "List the notices about your endpoints, and say where they go, with a client's credentials.",
    [list(), set(), remove()],
  )
}

function list(): Command {
  return clientCommand('list', 'List the newest notices, and where they go.', [
    'paybell notices list',
    "paybell notices list --json | jq '.recent[].notice.reasons'",
  ]).action(
    calling(async (call: Call) => {
      call.answer<Notices>(await ask(call, 'GET'), (notices) => {
        call.note(`They go to ${notices.callbackUrl} (${notices.status}).`)
        call.table(COLUMNS, notices.recent, 'No notices yet.')
      })
    }),
  )
}

function set(): Command {
  return withNewKey(
    clientCommand('set', 'Say where notices go. Given again, it moves the address.', [
      'paybell notices set https://shop.example.com/notices --generate-key',
      'paybell notices set https://shop.example.com/notices --shared-key-file key.txt',
    ]),
  )
    .argument('<url>', 'address that takes the notices')
    .action(
      calling(async (call: Call<NewKeyOptions>, callbackUrl: string) => {
        const { generateKey } = call.options
        const sharedKey = await chooseSharedKey(call)
        const api = await call.target.client()
        const answer = await api.call('PUT', PATH, { body: { callbackUrl, sharedKey } })
        const notices = answer.json<Notices>()
        if (call.isJson) {
          call.print(JSON.stringify(generateKey ? { ...notices, sharedKey } : notices))
          return
        }
        call.fields([
          ['Address', notices.callbackUrl],
          ['Status', notices.status],
          ...(generateKey ? ([['Shared key', sharedKey]] as const) : []),
        ])
        if (generateKey) call.note('Keep the shared key: it is not shown again.')
      }),
    )
}

function remove(): Command {
  return clientCommand('delete', 'Get no more notices. Pending ones are cancelled.', [
    'paybell notices delete',
  ]).action(
    calling(async (call: Call) => {
      await ask(call, 'DELETE')
      if (call.isJson) call.print(JSON.stringify({ deleted: true }))
      else call.print('You get no more notices.')
    }),
  )
}

async function ask(call: Call, method: 'GET' | 'DELETE'): Promise<Answer> {
  const api = await call.target.client()
  try {
    return await api.call(method, PATH)
  } catch (error) {
    if (!(error instanceof PaybellError) || error.status !== 404) throw error
    call.note('There is no address for notices. Set one: paybell notices set URL --generate-key')
    throw new SilentFailure()
  }
}

type Sent = Notices['recent'][number]

const COLUMNS: readonly Column<Sent>[] = [
  { title: 'AT', of: ({ notice }) => formatTime(notice.at) },
  { title: 'NOTICE', of: ({ notice }) => notice.type },
  { title: 'SENT', of: ({ state }) => state, isState: true },
  { title: 'ENDPOINT', of: ({ notice }) => notice.endpoint.id },
  { title: 'REASONS', of: ({ notice }) => notice.reasons },
]
