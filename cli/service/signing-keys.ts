// `paybell signing-keys rotate` and `paybell webhook-keys rotate`: a new key signs access tokens, or callbacks and
// statements, from now on. It also happens by itself, every 30 and every 90 days; by hand, when a key may have
// leaked or after the master key was changed.

import { randomBytes } from 'node:crypto'
import { UuidMaker } from '../../server/core/uuid.ts'
import {
  type KeyringDeps,
  rotateSigningKey,
  TOKEN_KEYS,
} from '../../server/operations/parts/keyring.ts'
import { rotateWebhookKey } from '../../server/operations/webhook-keys.ts'
import { DatabaseClock } from '../../server/store/database-clock.ts'
import { readDatabaseTimeMs } from '../../server/store/leases.ts'
import { onServiceDatabase } from './service-database.ts'

interface Options {
  json?: boolean
}

export async function rotateSigningKeys(options: Options): Promise<void> {
  await rotate(
    'paybell signing-keys',
    (deps) => rotateSigningKey(deps, TOKEN_KEYS),
    'Tokens signed before stay good until they expire.',
    options,
  )
}

export async function rotateWebhookKeys(options: Options): Promise<void> {
  await rotate(
    'paybell webhook-keys',
    rotateWebhookKey,
    'The key before it signs beside it, and is published, for 7 days.',
    options,
  )
}

async function rotate(
  name: string,
  makeKey: (deps: KeyringDeps) => Promise<string>,
  remark: string,
  options: Options,
): Promise<void> {
  await onServiceDatabase(name, async ({ config, pool, sealer }) => {
    const clock = new DatabaseClock()
    const askedAtMs = clock.monotonicMs()
    clock.adjust(await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
    const ids = new UuidMaker(() => clock.nowMs(), randomBytes, config.cell)
    const kid = await makeKey({ pool, clock, config, sealer, newId: () => ids.next() })
    console.log(
      options.json
        ? JSON.stringify({ kid })
        : `Key ${kid} signs from now on, in every process within a minute. ${remark}`,
    )
  })
}
