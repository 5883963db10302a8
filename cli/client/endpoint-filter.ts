// What a list of endpoints can be narrowed to and sorted by, as options: the same for the operator and for clients.

import type { Command } from 'commander'
import type { Endpoint, EndpointHealth } from '../../sdk/src/wire/types.ts'
import { ENDPOINT_ORDERS } from '../../server/core/asking/endpoint-orders.ts'
import { oneOf } from '../basics/parse.ts'
import { type Column, formatTime } from '../basics/terminal.ts'

export interface EndpointFilterOptions {
  status?: string
  failing?: boolean
  search?: string
  sort?: string
}

export function withEndpointFilter(command: Command): Command {
  return command
    .option('--status <status>', 'only in this status', oneOf(['ACTIVE', 'PAUSED', 'DISABLED']))
    .option('--failing', 'only those whose last attempts have failed')
    .option('--search <words>', 'only with these words in the address')
    .option(
      '--sort <order>',
      'createdAt, endpointUrl or failingSince; with a minus, the other way round',
      oneOf(ENDPOINT_ORDERS),
    )
}

/** As the interface names them. */
export function toFilterQuery({ status, failing, search: q, sort }: EndpointFilterOptions) {
  return { status, failing, q, sort }
}

type WithHealth = Pick<Endpoint, 'id'> & { health?: EndpointHealth }

export function healthColumns(): readonly Column<WithHealth>[] {
  return [
    { title: 'PENDING', of: ({ health }) => health?.pending, right: true },
    { title: 'OK 24H', of: ({ health }) => percent(health?.successRate24h ?? null), right: true },
    { title: 'FAILING SINCE', of: ({ health }) => formatTime(health?.failingSince ?? null) },
  ]
}

export function percent(rate: number | null): string | null {
  if (rate === null) return null
  return `${(rate * 100).toFixed(rate === 1 || rate === 0 ? 0 : 1)} %`
}
