// `paybell accounts …`: a client has any number of accounts, and payments belong to one of them.

import type { Command } from 'commander'
import type { Account } from '../../sdk/src/internal/operator-types.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id } from '../basics/parse.ts'

const pathOf = (clientId: string) => `/operator/v1/clients/${clientId}/accounts`
const CLIENT = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

export function accountsCommand(): Command {
  return family('accounts', "Open and list a client's accounts.", [create(), list()])
}

function create(): Command {
  return operatorCommand('create', 'Open an account.', [`paybell accounts create ${CLIENT} "Main"`])
    .argument('<client>', 'id of the client', id)
    .argument('<name>', 'what to call the account')
    .action(
      calling(async (call: Call, clientId: string, name: string) => {
        const answer = await (await call.operator()).post(pathOf(clientId), { name })
        call.answer<Account>(answer, (account) =>
          call.fields([
            ['Account id', account.id],
            ['Name', account.name],
          ]),
        )
      }),
    )
}

function list(): Command {
  return withPage(
    operatorCommand('list', "List a client's accounts.", [
      `paybell accounts list ${CLIENT}`,
      `paybell accounts list ${CLIENT} --json`,
    ]).argument('<client>', 'id of the client', id),
  ).action(
    calling(async (call: Call<PageOptions>, clientId: string) => {
      const { page, size } = call.options
      const answer = await (await call.operator()).get(pathOf(clientId), { page, size })
      showPage<Account>(
        call,
        answer,
        [
          { title: 'ACCOUNT', of: (account) => account.id },
          { title: 'NAME', of: ({ name }) => name },
        ],
        `The client has no accounts. Open one with: paybell accounts create ${clientId} NAME`,
      )
    }),
  )
}
