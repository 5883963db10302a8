// Endpoints as the engine needs them to send: where to, with which keys and which extra header.
// Secrets are opened here; one that does not open, or not at this address, is a value, so that others go on.

import { DEFAULT_SETTINGS, type EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import type { SigningKeys } from '../../core/signatures/callback-headers.ts'
import { toSigningKey } from '../../core/signatures/signature.ts'
import type { CallbackOauth2, EndpointOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import type { Db } from '../connection/db.ts'
import { SETTINGS_COLUMNS, type SettingsRow, toSettings } from '../endpoints/settings-columns.ts'
import { openEndpoint } from '../secrets/endpoint-secrets.ts'
import type { Sealer } from '../secrets/sealing.ts'
import { column } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'
import type { LaneKey } from './parked.ts'

export interface SendingEndpoint {
  clientKey: number
  id: string
  shard: number
  url: string
  isActive: boolean
  /** When it was last said to be fixed: a retry, a resumption, a test that was answered 200. 0: never. */
  retriedAtMs: number
  /** With the defaults where none were given. */
  settings: EndpointSettings
  /** Null when a stored secret does not open: attempts fail with a code, on schedule. */
  secrets: EndpointSecrets | null
}

export interface EndpointSecrets {
  keys: SigningKeys
  extraHeader: readonly [string, string] | null
  /** With its secret. */
  oauth2: CallbackOauth2 | null
}

interface EndpointRow extends SettingsRow {
  client_key: number
  id: string
  shard: number
  url: string
  status: string
  deleted_at: Date | null
  shared_key: Buffer
  previous_key: Buffer | null
  previous_key_until: Date | null
  header_name: string | null
  header_value: Buffer | null
  retried_at: Date | null
}

const COLUMNS = `client_key, id, shard, url, status, deleted_at, shared_key, previous_key,
  previous_key_until, header_name, header_value, retried_at, ${SETTINGS_COLUMNS}`

/** Those of the keys that exist; the keys are given once each. */
export async function readSendingEndpoints(
  db: Db,
  sealer: Sealer,
  keys: readonly { clientKey: number; endpointId: string }[],
): Promise<readonly SendingEndpoint[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'read-sending-endpoints',
    text: `select e.* from unnest(${hideLength('$1', 'int[]')}, $2::uuid[]) as k (client_key, id)
           cross join lateral (
             select ${COLUMNS} from endpoints e
             where e.client_key = k.client_key and e.id = k.id limit 1) as e`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.endpointId),
    ],
  })
  return rows.map((row) => toSending(row, sealer))
}

export interface ChangedLane extends LaneKey {
  /** When the endpoint was last said to be mended: a retry, a resumption, a test that was answered 200. 0: never. */
  retriedAtMs?: number
}

export interface ChangedEndpoint extends ChangedLane {
  retriedAtMs: number
  changedAtMs: number
}

/** What changed since `sinceMs`, for engines that missed the wake-up; a page, in order of the ids. */
export async function readChangedEndpoints(
  db: Db,
  sinceMs: number,
  afterId: string,
  limit: number,
): Promise<readonly ChangedEndpoint[]> {
  const { rows } = await db.query<{
    client_key: number
    id: string
    shard: number
    changed_at: Date
    retried_at: Date | null
  }>({
    name: 'read-changed-endpoints',
    // Deliveries that were taken away, or made due, count too. One row for each endpoint, with the later of the two.
    text: `select client_key, id, shard, retried_at,
             greatest(changed_at, deliveries_changed_at) as changed_at
           from endpoints where changed_at > $1 and id > $2
           union
           select client_key, id, shard, retried_at, greatest(changed_at, deliveries_changed_at)
           from endpoints where deliveries_changed_at > $1 and id > $2
           order by id limit $3`,
    values: [new Date(sinceMs), afterId, limit],
  })
  return rows.map((row) => ({
    clientKey: row.client_key,
    endpointId: row.id,
    shard: row.shard,
    retriedAtMs: row.retried_at?.getTime() ?? 0,
    changedAtMs: row.changed_at.getTime(),
  }))
}

function toSending(row: EndpointRow, sealer: Sealer): SendingEndpoint {
  const settings = toSettings(row) ?? DEFAULT_SETTINGS
  return {
    clientKey: row.client_key,
    id: row.id,
    shard: row.shard,
    url: row.url,
    isActive: row.status === 'ACTIVE' && row.deleted_at === null,
    retriedAtMs: row.retried_at?.getTime() ?? 0,
    settings,
    secrets: openSecrets(row, settings.oauth2, sealer),
  }
}

function openSecrets(
  row: EndpointRow,
  oauth2: EndpointOauth2 | null,
  sealer: Sealer,
): EndpointSecrets | null {
  try {
    const open = openEndpoint(sealer, { ...row, oauth2 })
    const current = toSigningKey(open('shared_key') as Buffer)
    const { previous_key_until: until, header_name: name } = row
    const previousKey = until && open('previous_key')
    const previous =
      previousKey && until ? { key: toSigningKey(previousKey), untilMs: until.getTime() } : null
    const headerValue = name === null ? null : open('header_value')
    return {
      keys: { current, previous },
      extraHeader:
        name === null || headerValue === null ? null : [name, headerValue.toString('utf8')],
      oauth2: oauth2 && toCallbackOauth2(row.id, oauth2, open('oauth2_secret')),
    }
  } catch {
    return null
  }
}

function toCallbackOauth2(
  endpointId: string,
  { sealedSecret: _sealed, ...rest }: EndpointOauth2,
  secret: Buffer | null,
): CallbackOauth2 {
  // An empty one stands for none.
  const clientSecret = secret !== null && secret.length > 0 ? secret.toString('utf8') : null
  return { ...rest, endpointId, clientSecret }
}
