// `paybell keys …`: operator keys with a name and a role, so that each system has its own and can lose
// it without the others noticing.

import type { Command } from 'commander'
import type { NewOperatorKey, OperatorKey, Role } from '../../sdk/src/internal/operator-types.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id, oneOf } from '../basics/parse.ts'
import { formatTime } from '../basics/terminal.ts'

const PATH = '/operator/v1/keys'
const ROLES: readonly Role[] = ['admin', 'ingest', 'viewer', 'auditor']

export function keysCommand(): Command {
  return family('keys', 'Create, list and revoke operator keys.', [create(), list(), revoke()])
}

function create(): Command {
  return operatorCommand('create', 'Create an operator key.', [
    'paybell keys create "Payment core" --role ingest',
    'paybell keys create "Dashboard" --role viewer --json | jq -r .key > viewer.key',
  ])
    .argument('<name>', 'who or what will use it')
    .requiredOption(
      '--role <role>',
      'admin: everything; ingest: only feeding payments; viewer: only looking; auditor: only the audit',
      oneOf(ROLES),
    )
    .action(
      calling(async (call: Call<{ role: string }>, name: string) => {
        const answer = await (await call.operator()).post(PATH, { name, role: call.options.role })
        call.answer<NewOperatorKey>(answer, (key) => {
          call.fields([
            ['Key id', key.id],
            ['Key', key.key],
            ['Name', key.name],
            ['Role', key.role],
          ])
          call.note('Put it where it belongs now: it is not shown again.')
        })
      }),
    )
}

function list(): Command {
  return withPage(
    operatorCommand('list', 'List operator keys, without the keys themselves.', [
      'paybell keys list',
    ]),
  ).action(
    calling(async (call: Call<PageOptions>) => {
      const { page, size } = call.options
      const answer = await (await call.operator()).get(PATH, { page, size })
      showPage<OperatorKey>(
        call,
        answer,
        [
          { title: 'KEY', of: (key) => key.id },
          { title: 'ROLE', of: ({ role }) => role },
          { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
          { title: 'LAST USED', of: ({ lastUsedAt }) => formatTime(lastUsedAt) },
          { title: 'REVOKED', of: ({ revokedAt }) => formatTime(revokedAt) },
          { title: 'NAME', of: ({ name }) => name },
        ],
        'There are no keys besides PAYBELL_OPERATOR_KEY. Make one with: paybell keys create NAME --role viewer',
      )
    }),
  )
}

function revoke(): Command {
  return operatorCommand('revoke', 'Revoke an operator key.', [
    'paybell keys revoke 01a1dd3c-57d6-7001-9e6f-60de241483ec',
  ])
    .argument('<key>', 'id of the key', id)
    .action(
      calling(async (call: Call, keyId: string) => {
        await (await call.operator()).call('DELETE', `${PATH}/${keyId}`)
        if (call.isJson) call.print(JSON.stringify({ revoked: keyId }))
        else call.print(`The key ${keyId} is revoked.`)
      }),
    )
}
