// The SDK as an integrator gets it, in a fresh folder, without a network: packed and installed by npm, or, in
// a tenth of the time, built into the place where npm would have put it.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

const run = promisify(execFile)
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
  const { stdout } = await run('npm', args, { cwd: folder, env, timeout: 300_000 })
  return stdout
}

/** All that an integrator does. Returns the folder. */
export async function installPacked(t: Owner): Promise<string> {
  return installFresh(t, await packSdk(t))
}

/** What npm would have put there. */
export async function installBuilt(t: Owner): Promise<string> {
  const folder = await makeFolder(t, 'integrator')
  const target = join(folder, 'node_modules/@paybell/sdk')
  await mkdir(target, { recursive: true })
  await run(process.execPath, [join(SDK, 'build.mjs'), join(target, 'dist')])
  for (const name of ['package.json', 'README.md', 'LICENSE', 'examples'])
    await cp(join(SDK, name), join(target, name), { recursive: true })
  return folder
}

/** Returns the path of the tarball. */
async function packSdk(t: Owner): Promise<string> {
  const folder = await makeFolder(t, 'packed')
  // npm builds into sdk/dist first, which all tests of a run share: one after the other.
  const lock = join(tmpdir(), 'paybell-sdk-is-packed')
  await until('no other test packs the SDK', () => mkdir(lock).then(() => true, isTaken))
  try {
    await npm(SDK, 'pack', '--pack-destination', folder, '--loglevel', 'error')
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
  return join(folder, 'paybell-sdk-0.2.0.tgz')
}

function isTaken(error: NodeJS.ErrnoException): false {
  if (error.code === 'EEXIST') return false
  throw error
}

async function installFresh(t: Owner, tarball: string): Promise<string> {
  const folder = await makeFolder(t, 'integrator')
  await npm(folder, 'init', '-y')
  await npm(folder, 'install', tarball, '--offline', '--no-audit', '--no-fund')
  return folder
}
