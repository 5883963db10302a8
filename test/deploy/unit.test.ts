// The systemd unit: what it sets is what the service reads, and systemd itself finds no fault with it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../../server/config/config.ts'
import { findProgram, skipWithout } from '../support/programs.ts'

const read = (name: string) =>
  readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8')

const unit = read('paybell.service')
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value as string)

const SECRETS: Readonly<Record<string, string>> = {
  'master-key': randomBytes(32).toString('base64'),
  'operator-key': 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA',
  'database-url': 'postgres://paybell@127.0.0.1/paybell',
}

test('the settings of the unit and of its example are what the service takes', () => {
  const lines = [...read('paybell.env.example').split('\n'), ...valuesOf('Environment')]
  const env = Object.fromEntries(
    lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split('=', 2)),
  )
  const config = loadConfig('production', env, (path) => {
    const [, name] = /^%d\/(.*)$/.exec(path) ?? []
    assert.ok(valuesOf('LoadCredential').includes(`${name}:/etc/paybell/${name}`), path)
    return SECRETS[name as string] as string
  })
  assert.equal(config.databaseUrl, SECRETS['database-url'])
  assert.equal(config.operatorPort, 8081)
})

test('it says when it is ready, is watched, and gets no rights and no user that exists', () => {
  for (const line of [
    'Type=notify',
    'NotifyAccess=all',
    'DynamicUser=yes',
    'ProtectSystem=strict',
  ]) {
    assert.ok(unit.includes(`\n${line}\n`), line)
  }
  assert.equal(valuesOf('WatchdogSec').length, 1)
  assert.deepEqual(valuesOf('CapabilityBoundingSet'), [''])
  assert.match(valuesOf('ExecReload')[0] ?? '', /PAYBELL_PROCESSES.* kill -HUP \$MAINPID/)
  // The drain, and 20 seconds for what is under way.
  assert.ok(Number(valuesOf('TimeoutStopSec')) >= 25)
})

test('systemd takes the unit as it is, and finds it well enough locked up', {
  skip: skipWithout('systemd-analyze'),
}, (t) => {
  const path = copyOfUnit(t)
  const analyze = findProgram('systemd-analyze') as string
  execFileSync(analyze, ['verify', '--man=no', path], { stdio: 'pipe' })
  // Exposure in tenths: 14 of 100 here, most of it for being a service of the network.
  execFileSync(analyze, ['security', '--offline=yes', '--threshold=20', path], { stdio: 'pipe' })
})

/** With a program that this machine has. */
function copyOfUnit(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'paybell-unit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'paybell.service')
  writeFileSync(path, unit.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`))
  return path
}
