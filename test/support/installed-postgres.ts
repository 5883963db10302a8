// A throw-away cluster of a PostgreSQL that the machine has installed, for tests on older versions. Runs
// as `nobody` when the tests run as root, since PostgreSQL refuses root.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onServer, type TestServer } from './test-server.ts'
import { until } from './until.ts'

const NOBODY = 65_534

/** Where Debian and its kin put the programs of this major version; null where it is not installed. */
export function findInstalledPostgres(version: number): string | null {
  const binDir = `/usr/lib/postgresql/${version}/bin`
  return ['initdb', 'postgres'].every((name) => existsSync(join(binDir, name))) ? binDir : null
}

/** The user who runs the server: not root. */
export const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** `settings` are those of postgresql.conf, by name. */
export function startInstalledPostgres(
  binDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const dir = makeFolder()
  execFileSync(
    join(binDir, 'initdb'),
    [
      '-D',
      join(dir, 'data'),
      '-U',
      'paybell',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...asUser, cwd: dir, stdio: 'ignore' },
  )
  return startIn(dir, binDir, settings)
}

/** A server on the data of a backup, in `data` of this folder, which goes with the server. */
export function startOnData(binDir: string, dir: string): Promise<TestServer> {
  return startIn(dir, binDir)
}

/** A standby with what the primary holds now and nothing that comes later: it has been cut off. */
export async function startStandby(binDir: string, primary: TestServer): Promise<TestServer> {
  const dir = makeFolder()
  const host = new URL(primary.url).searchParams.get('host') as string
  execFileSync(
    join(binDir, 'pg_basebackup'),
    ['-D', join(dir, 'data'), '-h', host, '-U', 'paybell', '-c', 'fast', '--no-sync'],
    { ...asUser, cwd: dir, stdio: 'ignore' },
  )
  writeFileSync(join(dir, 'data', 'standby.signal'), '')
  return startIn(dir, binDir)
}

/** Of the user who runs the server. */
export function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'paybell-pg-'))
  if (asUser.uid !== undefined) chownSync(dir, NOBODY, NOBODY)
  return dir
}

async function startIn(
  dir: string,
  binDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: dir,
    max_connections: '50',
    ...more,
  }
  const server = spawn(
    join(binDir, 'postgres'),
    [
      '-D',
      join(dir, 'data'),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...asUser, cwd: dir, stdio: 'ignore' },
  )
  const exit = once(server, 'exit')
  const url = `postgres://paybell@localhost:5432/postgres?host=${encodeURIComponent(dir)}`
  await untilAnswers(url)
  return {
    url,
    async stop() {
      server.kill('SIGINT')
      await exit
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function untilAnswers(url: string): Promise<void> {
  await until('PostgreSQL answers', () =>
    onServer(url, (client) => client.query('select 1')).catch(() => null),
  )
}
