// `paybell endpoints …`: the addresses that Paybell delivers to, and their health.

import type { Command } from 'commander'
import type {
  OperatorEndpoint,
  OperatorEndpointDetail,
} from '../../sdk/src/internal/operator-types.ts'
import { outcomeText } from '../../server/core/delivery/outcome-words.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id } from '../basics/parse.ts'
import { formatDuration, formatTime, paintState } from '../basics/terminal.ts'
import {
  type EndpointFilterOptions,
  healthColumns,
  percent,
  toFilterQuery,
  withEndpointFilter,
} from '../client/endpoint-filter.ts'
import { settingFields } from '../client/endpoint-settings.ts'

const PATH = '/operator/v1/endpoints'
const ENDPOINT = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

export function endpointsCommand(): Command {
  return family('endpoints', 'List endpoints and their health; pause and resume them.', [
    list(),
    show(),
    change('pause', 'PAUSED', 'Stop sending to an endpoint. Nothing is lost: deliveries wait.'),
    change('resume', 'ACTIVE', 'Send to a paused or disabled endpoint again, in order.'),
  ])
}

interface ListOptions extends PageOptions, EndpointFilterOptions {
  client?: string
}

function list(): Command {
  return withPage(
    withEndpointFilter(
      operatorCommand('list', 'List endpoints and their health.', [
        'paybell endpoints list',
        'paybell endpoints list --failing',
        'paybell endpoints list --status DISABLED',
        'paybell endpoints list --search acme',
        'paybell endpoints list --json | jq -r ".content[] | select(.health.pending > 0).id"',
      ])
        .option('--client <id>', 'only of this client', id)
        .option('--account <id>', 'only of this account', id),
    ),
  ).action(
    calling(async (call: Call<ListOptions>) => {
      const { page, size, failing, client: clientId, account: accountId } = call.options
      const api = await call.operator()
      const filter = toFilterQuery(call.options)
      const answer = await api.get(PATH, { page, size, clientId, accountId, ...filter })
      showPage<OperatorEndpointDetail>(
        call,
        answer,
        [
          { title: 'ENDPOINT', of: (endpoint) => endpoint.id },
          { title: 'STATUS', of: ({ status }) => status, isState: true },
          ...healthColumns(),
          { title: 'CLIENT', of: ({ clientName }) => clientName },
          { title: 'ADDRESS', of: ({ endpointUrl }) => endpointUrl },
        ],
        failing
          ? 'No endpoint is failing.'
          : 'There are no endpoints. Clients make them: paybell webhooks register URL --generate-key',
      )
    }),
  )
}

function show(): Command {
  return operatorCommand('show', 'Show one endpoint and its health.', [
    `paybell endpoints show ${ENDPOINT}`,
  ])
    .argument('<endpoint>', 'id of the endpoint', id)
    .action(
      calling(async (call: Call, endpointId: string) => {
        const answer = await (await call.operator()).get(`${PATH}/${endpointId}`)
        call.answer<OperatorEndpointDetail>(answer, (endpoint) => {
          showEndpoint(call, endpoint)
          call.note(`Its deliveries: paybell deliveries list --endpoint ${endpointId}`)
        })
      }),
    )
}

function showEndpoint(call: Call, endpoint: OperatorEndpointDetail): void {
  const { health } = endpoint
  call.fields([
    ['Endpoint', endpoint.id],
    ['Address', endpoint.endpointUrl],
    ['Kind', endpoint.kind],
    ['Status', endpoint.status],
    ['Client', `${endpoint.clientName} (${endpoint.clientId})`],
    [
      'Account',
      endpoint.accountId ? `${endpoint.accountName} (${endpoint.accountId})` : 'all of the client',
    ],
    ['Signature', `${endpoint.hmacHeaderName}, ${endpoint.algorithm}`],
    ...settingFields(endpoint),
    ['Created', formatTime(endpoint.createdAt)],
    ['Pending', health.pending],
    ['Circuit', health.circuit],
    ['Failing since', formatTime(health.failingSince)],
    ['Last success', formatTime(health.lastSuccessAt)],
    ['Last error', health.lastError && outcomeText(health.lastError)],
    ['Success 24 h', percent(health.successRate24h)],
    ['p95', health.p95Ms === null ? null : formatDuration(health.p95Ms)],
  ])
}

function change(verb: string, status: string, about: string): Command {
  return operatorCommand(verb, about, [`paybell endpoints ${verb} ${ENDPOINT}`])
    .argument('<endpoint>', 'id of the endpoint', id)
    .action(
      calling(async (call: Call, endpointId: string) => {
        const api = await call.operator()
        const answer = await api.call('PATCH', `${PATH}/${endpointId}`, { body: { status } })
        call.answer<OperatorEndpoint>(answer, (endpoint) => {
          call.print(`${endpoint.endpointUrl} is ${paintState(endpoint.status, call.paint)}.`)
        })
      }),
    )
}
