// What `paybell doctor` says of the secrets of endpoints: those that cannot be decrypted, or not for the address that stands
// beside them, and how far the database is with binding them to it.

import type { Config } from '../../../server/config/config.ts'
import { judgeForm } from '../../../server/operations/sealing/bind-addresses.ts'
import type { SchemaFacts } from '../../../server/store/schema/inspect-database.ts'
import {
  openEndpoint,
  SEALED_ENDPOINT_COLUMNS,
  type SealedEndpoint,
} from '../../../server/store/secrets/endpoint-secrets.ts'
import { Sealer } from '../../../server/store/secrets/sealing.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { plural } from '../../basics/terminal.ts'

const NAMED_MAX = 5
const NAME = 'endpoint secrets'

export function* checkSealing(
  config: Pick<Config, 'masterKeys'>,
  { sealing, sealedEndpoints }: Pick<SchemaFacts, 'sealing' | 'sealedEndpoints'>,
): Generator<Check> {
  // The sandbox keeps its own master key.
  if (config.masterKeys.length === 0 || sealing === null) return
  const sealer = new Sealer(config.masterKeys)
  const { binding, isWrong } = judgeForm(sealer, sealing)
  sealer.bindAddresses(binding)
  if (isWrong) {
    yield {
      name: NAME,
      status: 'failed',
      detail:
        'the mark that secrets are bound to addresses is missing or not authentic; they stay bound',
      remedy:
        'Someone who can write to the database has changed it: find out who. Then set it again: paybell reseal',
    }
  }
  const closed = sealedEndpoints.filter((endpoint) => !opens(sealer, endpoint))
  if (closed.length > 0) yield fail(closed)
  else yield ok(sealedEndpoints.length, binding === 'none')
}

function ok(count: number, isUnbound: boolean): Check {
  const detail = `of ${plural(count, 'endpoint')}, all can be decrypted`
  if (!isUnbound) return { name: NAME, status: 'ok', detail: `${detail}, for their address alone` }
  return {
    name: NAME,
    status: 'warning',
    detail: `${detail}, but are not bound to their address yet`,
    remedy: 'By itself a day after the last process of the version before; now: paybell reseal',
  }
}

function fail(closed: readonly SealedEndpoint[]): Check {
  const named = closed.slice(0, NAMED_MAX).map(({ id, url }) => `${id} (${url})`)
  const more = closed.length > NAMED_MAX ? ` and ${closed.length - NAMED_MAX} more` : ''
  return {
    name: NAME,
    status: 'failed',
    detail: `cannot be decrypted, nothing is sent: ${named.join(', ')}${more}`,
    remedy:
      'A master key is missing, or someone who can write to the database has changed the address or tokenUrl: find out who. To go on, the client registers the endpoint again, or gives oauth2 again.',
  }
}

function opens(sealer: Sealer, endpoint: SealedEndpoint): boolean {
  try {
    const open = openEndpoint(sealer, endpoint)
    for (const column of SEALED_ENDPOINT_COLUMNS) open(column)
    return true
  } catch {
    return false
  }
}
