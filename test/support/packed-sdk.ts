// The SDK as an integrator gets it: packed, and installed into a fresh folder without a network.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Owner } from './owner.ts'

const SDK = fileURLToPath(new URL('../../sdk', import.meta.url))

export async function makeFolder(t: Owner, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `paybell-${name}-`))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Runs npm with the Node of the tests, which prepack's build needs no more of than any other. */
export async function npm(folder: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    npm_config_update_notifier: 'false',
  }
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, env, timeout: 60_000 })
  return stdout
}

/** Returns the path of the tarball. */
export async function packSdk(t: Owner): Promise<string> {
  const folder = await makeFolder(t, 'packed')
  await npm(SDK, 'pack', '--pack-destination', folder, '--loglevel', 'error')
  return join(folder, 'paybell-sdk-0.2.0.tgz')
}

/** `npm init`, then `npm install` of the tarball: all that an integrator does. */
export async function installFresh(t: Owner, tarball: string): Promise<string> {
  const folder = await makeFolder(t, 'integrator')
  await npm(folder, 'init', '-y')
  await npm(folder, 'install', tarball, '--offline', '--no-audit', '--no-fund')
  return folder
}
