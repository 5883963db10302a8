// Compose: what it starts is pinned, its secrets are files that the service takes, and only the public port is open.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { loadConfig } from '../../server/config/config.ts'

const FOLDER = fileURLToPath(new URL('../../deploy/compose', import.meta.url))

interface Service {
  image: string
  environment?: Record<string, string>
  ports?: string[]
  networks: string[]
  secrets?: string[]
  read_only?: boolean
  cap_drop?: string[]
}

const compose = parse(readFileSync(join(FOLDER, 'compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
  networks: Record<string, { internal?: boolean }>
}
const { services } = compose
const paybell = services['paybell-1'] as Service

test('two processes, PostgreSQL, Caddy, Prometheus and Grafana, each in a version of its own', () => {
  const names = ['paybell-1', 'paybell-2', 'postgres', 'caddy', 'prometheus', 'grafana']
  assert.deepEqual(Object.keys(services), names)
  for (const { image } of Object.values(services)) assert.match(image, /:v?\d+\.\d+/)
  const manifest = new URL('../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  assert.equal(paybell.image, `paybell:${version}`)
})

test('a process has a file system that it cannot write to, and no rights', () => {
  assert.deepEqual(services['paybell-2'], paybell)
  assert.equal(paybell.read_only, true)
  assert.deepEqual(paybell.cap_drop, ['ALL'])
})

test('clients reach Caddy, operators only from the machine itself, and PostgreSQL has no way out', () => {
  const open = Object.values(services).flatMap(({ ports = [] }) => ports)
  const everywhere = open.filter((port) => !port.startsWith('127.0.0.1:'))
  assert.deepEqual(everywhere, ['80:80', '443:443', '443:443/udp'])
  assert.deepEqual(services.postgres?.networks, ['inside'])
  assert.equal(compose.networks.inside?.internal, true)
  // A second network in common would give Caddy a second address, which is not trusted.
  const shared = paybell.networks.filter((name) => services.caddy?.networks.includes(name))
  assert.deepEqual(shared, ['inside'])
})

test('no secret stands in an environment', () => {
  for (const { environment = {}, secrets = [] } of Object.values(services)) {
    for (const [name, value] of Object.entries(environment)) {
      if (/PASSWORD|KEY|DATABASE_URL/.test(name)) {
        assert.match(name, /_FILE$/)
        assert.ok(secrets.includes(basename(value)), name)
      }
    }
  }
})

test('prepare.sh makes secrets that the service takes, once', {
  skip: process.getuid?.() === 0 ? false : 'needs root, to give files to the users of the images',
}, (t) => {
  const folder = copyOfFolder(t)
  const run = () => execFileSync(join(folder, 'prepare.sh'), ['payments.example.com'])
  run()
  const contents = () =>
    Object.values(compose.secrets).map(({ file }) => readFileSync(join(folder, file), 'utf8'))
  const first = contents()
  run()
  assert.deepEqual(contents(), first)
  for (const { file } of Object.values(compose.secrets)) {
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o400, file)
  }
  for (const name of paybell.secrets as string[]) {
    assert.equal(statSync(join(folder, 'secrets', name)).uid, 10_001, name)
  }
  const [, host] = readFileSync(join(folder, '.env'), 'utf8').match(/^PAYBELL_HOST=(.*)$/m) ?? []
  const environment = Object.entries(paybell.environment as object).map(([name, value]) => {
    return [name, value.replace(/\$\{PAYBELL_HOST:.*?\}/, host)]
  })
  const config = loadConfig('production', Object.fromEntries(environment), (path) => {
    return readFileSync(join(folder, 'secrets', basename(path)), 'utf8')
  })
  assert.equal(config.baseUrl, 'https://payments.example.com')
  assert.equal(config.operatorPort, 8081)
})

function copyOfFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'paybell-compose-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(FOLDER, folder, { recursive: true })
  return folder
}
