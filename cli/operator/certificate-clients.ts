// The options that say which clients may use a certificate, and the answer as people read it.

import type { Command } from 'commander'
import type { ServiceCertificate } from '../../sdk/src/internal/operator-types.ts'
import { id } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'
import { plural } from '../basics/terminal.ts'

export interface ClientsOptions {
  client?: string[]
  everyone?: boolean
}

interface ClientsGiven {
  clients?: readonly string[] | 'everyone'
}

export function withClients(command: Command): Command {
  return command
    .option(
      '--client <client>',
      'id of a client that may use it; repeat it for several',
      (value: string, before: string[] = []) => [...before, id(value)],
    )
    .option('--everyone', 'every client may use it, those to come included')
}

/** Only what was given of it. */
export function toClients({ client, everyone }: ClientsOptions): ClientsGiven {
  if (everyone && client !== undefined) {
    throw new UsageError('give --client or --everyone, not both.')
  }
  if (everyone) return { clients: 'everyone' }
  return client === undefined ? {} : { clients: client }
}

export interface ChangeOptions extends ClientsOptions {
  /** It is for no client any more. */
  none?: boolean
  name?: string
}

export function toChange({ name, none, ...options }: ChangeOptions): object {
  const given = toClients(options)
  if (none && given.clients !== undefined) {
    throw new UsageError('give --none alone, without --client and --everyone.')
  }
  const body = {
    ...(none ? { clients: [] } : given),
    ...(name === undefined ? {} : { name }),
  }
  if (Object.keys(body).length > 0) return body
  throw new UsageError('give --client, --everyone, --none or --name.')
}

/** In a list. */
export function forWhom(clients: ServiceCertificate['clients'] | undefined): string {
  if (clients === 'everyone') return 'everyone'
  return clients === undefined || clients.length === 0
    ? 'no client'
    : plural(clients.length, 'client')
}
