// `paybell migrate`: brings the database of DATABASE_URL to the newest schema, and gives the role that
// the service works under what it needs of it.

import { loadConfig } from '../../server/config/config.ts'
import { grantToAppRole } from '../../server/store/schema/app-role.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import type { PartitionsMade } from '../../server/store/schema/partitions.ts'
import { namingDatabase } from './database-failure.ts'

export interface MigrateOptions {
  json?: boolean
  /** A role apart from the one that owns the schema. */
  appRole?: string
}

export async function migrateDatabase(options: MigrateOptions): Promise<void> {
  const config = loadConfig('production', process.env)
  const url = config.databaseUrl as string
  const moved: PartitionsMade['moved'][number][] = []
  let left: PartitionsMade['left'] = []
  // The operator has chosen the hour: rows without a partition are moved, whatever their number.
  const applied = await namingDatabase(
    migrate(url, new Date(), {
      rowsMovedMax: null,
      onPartitions: (made) => {
        moved.push(...made.moved)
        left = made.left
      },
    }),
  )
  if (options.appRole) await grantToAppRole(url, options.appRole)
  if (options.json) {
    console.log(JSON.stringify({ applied, appRole: options.appRole ?? null }))
    return
  }
  console.log(
    applied.length === 0
      ? 'The schema is up to date.'
      : `Applied ${applied.length}: ${applied.join(', ')}.`,
  )
  for (const { partition, rows } of moved) {
    console.log(`Moved ${rows} rows to their partition ${partition}.`)
  }
  for (const { partition, reason } of left) {
    console.log(`Left for later: partition ${partition} (${reason}).`)
  }
  if (options.appRole) console.log(`The role ${options.appRole} has what the service needs.`)
}
