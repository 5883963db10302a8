// A real PgBouncer with the configuration that it comes with, where the machine has one: its own port, its
// own folder, ended by its pid. Where there is none, tests say so and are skipped.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startTcpProxy } from './database-proxy.ts'
import { freePort } from './free-port.ts'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

const NOBODY = 65_534

export function findPgBouncer(): string | null {
  const paths = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer', '/usr/bin/pgbouncer']
  return paths.find((path) => existsSync(path)) ?? null
}

/** Returns the database's address by way of the pooler. */
export async function startPgBouncer(
  t: Owner,
  binary: string,
  options: { databaseUrl: string; mode: 'session' | 'transaction' },
): Promise<string> {
  // By TCP: PgBouncer's user may not open the socket of the tests' server.
  const way = new pg.Client({
    connectionString: (await startTcpProxy(t, options.databaseUrl)).url,
  })
  const dir = mkdtempSync(join(tmpdir(), 'paybell-pgbouncer-'))
  const port = await freePort()
  const users = join(dir, 'users.txt')
  const config = join(dir, 'pgbouncer.ini')
  writeFileSync(users, `"${way.user}" "${way.password}"\n`)
  writeFileSync(
    config,
    `[databases]
* = host=${way.host} port=${way.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${options.mode}
`,
  )
  // PgBouncer refuses to be root, as PostgreSQL does.
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (asUser.uid !== undefined) {
    for (const path of [dir, users, config]) chownSync(path, NOBODY, NOBODY)
  }
  const child = spawn(binary, ['-q', config], { ...asUser, cwd: dir, stdio: 'ignore' })
  const exit = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGINT')
    await exit
    rmSync(dir, { recursive: true, force: true })
  })
  await until('pgbouncer answers', () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    return isListening(port)
  })
  const url = new URL(options.databaseUrl)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${port}`
  return url.href
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
