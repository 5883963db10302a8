// `paybell signing-keys rotate`: a new key signs access tokens from now on. It also happens by itself,
// every 30 days; by hand, when a key may have leaked or after the master key was changed.

import { randomBytes } from 'node:crypto'
import { loadConfig } from '../config.ts'
import { UuidMaker } from '../core/uuid.ts'
import { DatabaseClock } from '../database-clock.ts'
import { rotateSigningKey } from '../operations/keyring.ts'
import { createPool } from '../store/db.ts'
import { readDatabaseTimeMs } from '../store/leases.ts'
import { Sealer } from '../store/sealing.ts'

export async function rotateSigningKeys(options: { json?: boolean }): Promise<void> {
  const config = loadConfig('production', process.env)
  const sealer = new Sealer(config.masterKeys)
  const pool = createPool({
    url: config.databaseUrl as string,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell signing-keys',
  })
  try {
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
  } finally {
    await pool.end()
  }
}
