// The proxies of deploy/proxy in front of a service of a test: the example as it stands there, with the addresses, names
// and certificates of the test in the places of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import type { Owner } from './owner.ts'
import { until } from './paybell.ts'
import { findProgram } from './programs.ts'

export type ProxyName = 'nginx' | 'caddy'

export interface FrontProxy {
  /** Over TLS, at localhost. */
  publicUrl: string
  operatorUrl: string
}

export interface Upstreams {
  /** The ports of the process that runs; where the other one would be there is none. */
  clientPort: number
  operatorPort: number
}

const certificate = (name: string) =>
  fileURLToPath(new URL(`./certificates/${name}`, import.meta.url))
const example = (name: string) =>
  readFileSync(new URL(`../../deploy/proxy/${name}`, import.meta.url), 'utf8')

export async function startFrontProxy(
  t: Owner,
  name: ProxyName,
  { clientPort, operatorPort }: Upstreams,
): Promise<FrontProxy> {
  const [tlsPort, insidePort, gonePort] = [await freePort(), await freePort(), await freePort()]
  const replace = (text: string) =>
    text
      .replaceAll('10.0.0.11:8080', `127.0.0.1:${clientPort}`)
      .replaceAll('10.0.0.11:8081', `127.0.0.1:${operatorPort}`)
      .replaceAll(/10\.0\.0\.12:808[01]/g, `127.0.0.1:${gonePort}`)
      .replaceAll('10.0.0.10', '127.0.0.1')
      .replaceAll(/127\.0\.0\.1:8081\b/g, `127.0.0.1:${insidePort}`)
  const folder = mkdtempSync(join(tmpdir(), 'paybell-proxy-'))
  // Workers of nginx are another user's.
  chmodSync(folder, 0o755)
  const child =
    name === 'nginx'
      ? startNginx(folder, nginxConfig(replace(example('nginx.conf')), tlsPort))
      : startCaddy(folder, caddyConfig(replace(example('Caddyfile')), tlsPort))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text))
  const exit = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await exit
    rmSync(folder, { recursive: true, force: true })
  })
  for (const port of [tlsPort, insidePort]) {
    await until(`${name} listens`, () => {
      if (child.exitCode !== null) throw new Error(printed)
      return isListening(port)
    })
  }
  return {
    publicUrl: `https://localhost:${tlsPort}`,
    operatorUrl: `http://127.0.0.1:${insidePort}`,
  }
}

function nginxConfig(text: string, tlsPort: number): string {
  return text
    .replace('listen 443', `listen 127.0.0.1:${tlsPort}`)
    .replace(/ +listen \[::\].*\n/, '')
    .replace('server_name payments.example.com', 'server_name localhost')
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate('good.pem')};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${certificate('server.key')};`)
    .replace('allow 10.0.0.0/8', 'allow 127.0.0.0/8')
}

function caddyConfig(text: string, tlsPort: number): string {
  const tls = `\ttls ${certificate('good.pem')} ${certificate('server.key')}\n\tbind 127.0.0.1\n`
  const site = text.replace('payments.example.com {\n', `https://localhost:${tlsPort} {\n${tls}`)
  return site.replace('\tgrace_period 10s\n', '\tgrace_period 1s\n\tadmin off\n\tauto_https off\n')
}

function startNginx(folder: string, servers: string): ChildProcess {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${servers}\n}\n`,
  )
  const flags = ['-c', config, '-p', folder, '-e', 'stderr']
  return spawn(findProgram('nginx') as string, flags)
}

function startCaddy(folder: string, text: string): ChildProcess {
  const config = join(folder, 'Caddyfile')
  writeFileSync(config, text)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const flags = ['run', '--config', config, '--adapter', 'caddyfile']
  return spawn(findProgram('caddy') as string, flags, { env })
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
