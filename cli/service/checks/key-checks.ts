// What `paybell doctor` says of the keys in the database: those that are not authenticated with the master key are
// trusted for nothing, and someone may have put them there.

import type { Config } from '../../../server/config/config.ts'
import { toWhpk } from '../../../server/core/signatures/webhook-key.ts'
import { judgeKeys } from '../../../server/operations/access/trusted-keys.ts'
import type { SchemaFacts } from '../../../server/store/schema/inspect-database.ts'
import { Sealer } from '../../../server/store/secrets/sealing.ts'
import type { KeyTable, StoredSigningKey } from '../../../server/store/secrets/signing-keys.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { plural } from '../../basics/terminal.ts'

const SHOWN_MAX = 5

export function* checkKeys(
  config: Pick<Config, 'masterKeys'>,
  { keys }: Pick<SchemaFacts, 'keys'>,
): Generator<Check> {
  // The sandbox keeps its own master key.
  if (config.masterKeys.length === 0) return
  const sealer = new Sealer(config.masterKeys)
  const tokens = judgeKeys(sealer, 'signing_keys', keys.signing_keys)
  const webhooks = judgeKeys(sealer, 'webhook_keys', keys.webhook_keys)
  const untrusted = [...tokens.untrusted, ...webhooks.untrusted]
  if (untrusted.length === 0) {
    const count = tokens.trusted.length + webhooks.trusted.length
    yield { name: 'keys', status: 'ok', detail: `${plural(count, 'key')}, all authenticated` }
  }
  if (tokens.untrusted.length > 0) yield fail('signing_keys', tokens.untrusted, TOKEN_REMEDY)
  if (webhooks.untrusted.length > 0) yield fail('webhook_keys', webhooks.untrusted, WEBHOOK_REMEDY)
}

const FORGED = 'someone who can write to the database has put it there or changed it: find out who'
const TOKEN_REMEDY = `No token of it is accepted. Unless you know it, ${FORGED}.`
const WEBHOOK_REMEDY = `It is not published and proves nothing. A retired key of 0.2 that is in a webhook-keys.json that you have saved: paybell webhook-keys adopt whpk_… . Otherwise ${FORGED}.`

function fail(table: KeyTable, keys: readonly StoredSigningKey[], remedy: string): Check {
  const shown = keys.slice(0, SHOWN_MAX).map(({ kid, publicJwk }) => {
    const { x } = publicJwk
    return typeof x === 'string' ? `${kid} (${toWhpk(x)})` : kid
  })
  const more = keys.length > SHOWN_MAX ? ` and ${keys.length - SHOWN_MAX} more` : ''
  const detail = `not authenticated with the master key, in ${table}: ${shown.join(', ')}${more}`
  return { name: 'keys', status: 'failed', detail, remedy }
}
