// What makes and reads keys, for commands that do it without a running service: by the clock of the database, as all
// processes do.

import { randomBytes } from 'node:crypto'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import type { KeyringDeps } from '../../server/operations/access/keyring.ts'
import { DatabaseClock } from '../../server/store/connection/database-clock.ts'
import { readDatabaseTimeMs } from '../../server/store/owed/leases.ts'
import type { ServiceDatabase } from './service-database.ts'

export async function keyringDepsOf(
  { config, pool, sealer }: ServiceDatabase,
  cell = config.cell,
): Promise<KeyringDeps> {
  const clock = new DatabaseClock()
  const askedAtMs = clock.monotonicMs()
  clock.adjust(await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
  const ids = new UuidMaker(() => clock.nowMs(), randomBytes, cell)
  return { pool, clock, config, sealer, newId: () => ids.next() }
}
