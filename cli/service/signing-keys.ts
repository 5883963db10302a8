// `paybell signing-keys rotate`: a new key signs access tokens from now on. It also happens by itself,
// every 30 days; by hand, when a key may have leaked or after the master key was changed.

import { randomBytes } from 'node:crypto'
import { UuidMaker } from '../../server/core/uuid.ts'
import { rotateSigningKey } from '../../server/operations/parts/keyring.ts'
import { DatabaseClock } from '../../server/store/database-clock.ts'
import { readDatabaseTimeMs } from '../../server/store/leases.ts'
import { onServiceDatabase } from './service-database.ts'

export async function rotateSigningKeys(options: { json?: boolean }): Promise<void> {
  await onServiceDatabase('paybell signing-keys', async ({ config, pool, sealer }) => {
    const clock = new DatabaseClock()
    const askedAtMs = clock.monotonicMs()
    clock.adjust(await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
    const ids = new UuidMaker(() => clock.nowMs(), randomBytes)
    const kid = await rotateSigningKey({ pool, clock, config, sealer, newId: () => ids.next() })
    console.log(
      options.json
        ? JSON.stringify({ kid })
        : `Key ${kid} signs from now on, in every process within a minute. Tokens signed before stay good until they expire.`,
    )
  })
}
