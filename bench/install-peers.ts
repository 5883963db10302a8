// The peers' packages, installed beside the benchmark on first use: running or testing Paybell alone
// never downloads them.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** False, with a line that says why, when they cannot be installed. */
export function installPeers(): boolean {
  const stamp = `${HERE}node_modules/.package-lock.json`
  if (existsSync(stamp)) return true
  console.log('Installing the peers (bench/package.json), once …')
  const { status } = spawnSync('npm', ['ci', '--prefix', HERE, '--no-audit', '--no-fund'], {
    cwd: HERE,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) console.log('The peers could not be installed: their rows are left out.')
  return status === 0
}
