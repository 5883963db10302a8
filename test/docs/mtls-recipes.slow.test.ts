// The recipes of docs/connect-to-a-bank.md for receivers that ask who calls, run as they stand: the right certificate is
// let in, and no other, nor none. What has to be compiled is left to the full size.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Issued, issue } from '../support/issue-certificate.ts'
import { environmentIn, findRecipe, languagesOfThisSize, without } from '../support/recipes.ts'
import { until } from '../support/until.ts'

const PAGE = readFileSync(new URL('../../docs/connect-to-a-bank.md', import.meta.url), 'utf8')

interface Recipe {
  mark: string
  whyNot(): string | null
  file: string
  /** What it says to the caller that shows no certificate: null for nothing, as the connection is closed. */
  toNone: number | null
  wrap?(text: string): string
  command(dir: string): readonly [string, ...string[]]
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  nginx: {
    mark: 'nginx',
    whyNot: () => without('nginx'),
    file: 'nginx.conf',
    toNone: 400,
    wrap: (text) => `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
  access_log off; client_body_temp_path body; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ${text}
}
`,
    command: (dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', 'nginx.conf'],
  },
  Caddy: {
    mark: 'caddy',
    whyNot: () => without('caddy') ?? tooOld(),
    file: 'Caddyfile',
    toNone: null,
    // Its command socket and its folders would be those of the machine.
    wrap: (text) => `{\n  admin off\n  storage file_system storage\n}\n${text}`,
    command: () => ['caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
  },
  Node: {
    mark: 'js',
    whyNot: () => null,
    file: 'receiver.mjs',
    toNone: null,
    command: () => [process.execPath, 'receiver.mjs'],
  },
  Go: {
    mark: 'go',
    whyNot: () => without('go'),
    file: 'main.go',
    toNone: null,
    command: () => ['go', 'run', 'main.go'],
  },
}

/** `trust_pool` came with 2.8; Debian 12 has 2.6. */
function tooOld(): string | null {
  const { stdout } = spawnSync('caddy', ['list-modules'], { encoding: 'utf8' })
  return stdout.includes('tls.ca_pool.source.file') ? null : 'the recipe needs caddy 2.8'
}

const root = issue({ subject: 'CN=Root', isAuthority: true })
const elsewhere = issue({ subject: 'CN=Root', isAuthority: true })
const receiver = issue({
  subject: 'CN=receiver',
  by: root,
  purposes: ['server'],
  names: ['localhost'],
})
const clientOf = (name: string, by: Issued) =>
  issue({ subject: `CN=${name}`, by, purposes: ['client'] })

for (const [name, recipe] of languagesOfThisSize(RECIPES)) {
  test(`${name} lets the right certificate in, and no other`, {
    skip: recipe.whyNot() ?? false,
  }, async (t) => {
    const port = await startRecipe(t, recipe)
    const right = clientOf('paybell.example.com', root)
    await until(`${name} answers`, async () => (await ask(port, right)) !== null)
    assert.equal(await ask(port, right), 200)
    assert.equal(await ask(port, clientOf('another.example.com', root)), 403)
    assert.equal(await ask(port, null), recipe.toNone)
    const forged = await ask(port, clientOf('paybell.example.com', elsewhere))
    assert.equal(forged, recipe.toNone, 'of another authority')
  })
}

async function startRecipe(t: TestContext, recipe: Recipe): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-mtls-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const behind = createHttpServer((_, response) => response.end()).listen(0, '127.0.0.1')
  t.after(() => behind.close())
  await once(behind, 'listening')
  const port = await freePort()
  const text = findRecipe(PAGE, recipe.mark, 'mtls')
    .replace('8443', String(port))
    .replace('127.0.0.1:3000', `127.0.0.1:${(behind.address() as AddressInfo).port}`)
  const files = {
    [recipe.file]: recipe.wrap?.(text) ?? text,
    'server.pem': receiver.pem,
    'server.key': receiver.keyPem,
    'paybell-ca.pem': root.pem,
  }
  for (const [file, content] of Object.entries(files)) await writeFile(join(dir, file), content)
  const [command, ...args] = recipe.command(dir)
  // A group of its own: `go run` starts what it has built.
  const child = spawn(command, args, {
    cwd: dir,
    env: environmentIn(dir),
    stdio: 'ignore',
    detached: true,
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
  })
  return port
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The status of the answer; null when there was none. */
function ask(port: number, shown: Issued | null): Promise<number | null> {
  return new Promise((resolve) => {
    const request = requestOverTls({
      ...{ host: 'localhost', port, method: 'POST', ca: root.pem, agent: false },
      ...(shown === null ? {} : { cert: shown.pem, key: shown.keyPem }),
    })
    request.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? null)
    })
    request.on('error', () => resolve(null))
    request.end('{}')
  })
}
