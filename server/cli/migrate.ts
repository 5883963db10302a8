// `paybell migrate`: brings the database of DATABASE_URL to the newest schema.

import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { migrate } from '../store/migrate.ts'
import { runCommand } from './run.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring the database to the newest schema; `serve` does this by itself, too.')
    .action(() =>
      runCommand(async () => {
        const config = loadConfig('production', process.env)
        const applied = await migrate(config.databaseUrl as string, new Date())
        console.log(
          applied.length === 0
            ? 'The schema is up to date.'
            : `Applied ${applied.length}: ${applied.join(', ')}.`,
        )
      }),
    )
}
