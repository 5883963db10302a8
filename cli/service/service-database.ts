// The commands that do a piece of the service's work themselves, on its database and with its master keys.

import { type Config, loadConfig } from '../../server/config/config.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { namingDatabase } from './database-failure.ts'

export interface ServiceDatabase {
  config: Config
  pool: ReturnType<typeof createPool>
  sealer: Sealer
}

export async function onServiceDatabase(
  applicationName: string,
  work: (database: ServiceDatabase) => Promise<void>,
): Promise<void> {
  const config = loadConfig('production', process.env)
  const sealer = new Sealer(config.masterKeys)
  const pool = createPool({
    url: config.databaseUrl as string,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName,
  })
  try {
    await namingDatabase(work({ config, pool, sealer }))
  } finally {
    await pool.end()
  }
}
