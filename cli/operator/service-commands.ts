// The commands that are the service, or look after its database. What they run is loaded when it is
// asked for: a command that only calls a service need not load one, and answers in half the time.

import cluster from 'node:cluster'
import type { Command } from 'commander'
import { SHARD_COUNT } from '../../server/core/delivery/lease.ts'
import { given } from '../../server/core/plain/setting.ts'
import { family, JSON_HELP, plainCommand } from '../basics/command.ts'
import { integer } from '../basics/parse.ts'
import { runCommand } from '../basics/run.ts'
import { listKeysCommand } from './published-keys.ts'
import { revokeCommand } from './revoke-key.ts'

export function sandboxCommand(): Command {
  return plainCommand(
    'sandbox',
    'Run everything on this machine, with a database of its own (npm start).',
    ['paybell sandbox', 'PAYBELL_TIME_SCALE=1000 PORT=0 paybell sandbox'],
  ).action(() => runCommand(async () => (await import('../service/sandbox.ts')).sandbox()))
}

export function serveCommand(): Command {
  return plainCommand('serve', 'Run the service on the PostgreSQL of DATABASE_URL.', [
    'DATABASE_URL=postgres://… paybell serve',
    'paybell serve --processes auto',
    'paybell doctor',
  ])
    .option(
      '--processes <n>',
      'serve with this number of processes on the same port, or auto: one for each core (PAYBELL_PROCESSES)',
      processes,
    )
    .action((options: { processes?: string }) => runCommand(() => serve(options.processes)))
}

/** What serves does not load what starts others, nor the other way round. */
async function serve(option: string | undefined): Promise<void> {
  const isParent = cluster.isPrimary && given(option ?? process.env.PAYBELL_PROCESSES) !== undefined
  if (!isParent) return (await import('../service/serve.ts')).serve()
  return (await import('../service/serve-by-processes.ts')).serveByProcesses(option)
}

function processes(text: string): string {
  return text === 'auto' ? text : `${integer(1, SHARD_COUNT)(text)}`
}

export function routeCommand(): Command {
  return plainCommand(
    'route',
    'Give several cells one address: send each request to the cell of its client.',
    [
      'PAYBELL_ROUTE_CELLS=0=http://10.0.0.1:8080,7=http://10.0.0.7:8080 PAYBELL_ROUTE_KEY_FILE=/run/secrets/route-key paybell route',
    ],
  ).action(() => runCommand(async () => (await import('../service/route.ts')).route()))
}

export function migrateCommand(): Command {
  return plainCommand('migrate', 'Apply database migrations; `serve` does this by itself, too.', [
    'DATABASE_URL=postgres://… paybell migrate',
    'DATABASE_URL=postgres://owner@… paybell migrate --app-role paybell_app',
  ])
    .option(
      '--app-role <role>',
      'also grant this role, apart from the owner, what the service needs',
    )
    .option('--json', JSON_HELP)
    .action((_options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/migrate.ts')).migrateDatabase(command.optsWithGlobals()),
      ),
    )
}

export function resealCommand(): Command {
  return plainCommand(
    'reseal',
    'Re-encrypt all stored secrets under the first master key, and bind those of endpoints to their address, while the service runs.',
    ['PAYBELL_MASTER_KEY=new,old paybell reseal'],
  )
    .option('--json', JSON_HELP)
    .action((_options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/reseal.ts')).reseal(command.optsWithGlobals()),
      ),
    )
}

export function signingKeysCommand(): Command {
  const rotate = plainCommand(
    'rotate',
    'Create a new key that signs access tokens; old tokens stay valid until they expire.',
    ['DATABASE_URL=postgres://… paybell signing-keys rotate'],
  )
    .option('--json', JSON_HELP)
    .action((_options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/signing-keys.ts')).rotateSigningKeys(command.optsWithGlobals()),
      ),
    )
  return family('signing-keys', 'The keys that sign access tokens.', [
    listKeysCommand('signing-keys', 'trusted'),
    rotate,
    revokeCommand('signing-keys', 'Tokens under it are refused: clients have to log in again.'),
  ])
}

export function webhookKeysCommand(): Command {
  const rotate = plainCommand(
    'rotate',
    'Create a new key that signs callbacks (v1a) and statements; the one before signs beside it for 7 days.',
    ['DATABASE_URL=postgres://… paybell webhook-keys rotate'],
  )
    .option('--json', JSON_HELP)
    .action((_options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/signing-keys.ts')).rotateWebhookKeys(command.optsWithGlobals()),
      ),
    )
  const adopt = plainCommand(
    'adopt',
    'Trust a retired key that is not authenticated, as after an upgrade from 0.2. Compare it with keys that you have saved elsewhere first.',
    ['DATABASE_URL=postgres://… paybell webhook-keys adopt whpk_…', 'paybell doctor'],
  )
    .argument('<public key>', 'the key as whpk_…, from a saved /.well-known/webhook-keys.json')
    .option('--json', JSON_HELP)
    .action((whpk: string, _options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/signing-keys.ts')).adoptWebhookKeyCommand(
          whpk,
          command.optsWithGlobals(),
        ),
      ),
    )
  return family(
    'webhook-keys',
    'The service’s own keys, published at /.well-known/webhook-keys.json.',
    [
      listKeysCommand('webhook-keys', 'signs'),
      rotate,
      revokeCommand('webhook-keys', 'Receipts and statements under it can no longer be verified.'),
      adopt,
    ],
  )
}
