// The release before this one, as its users run it: taken out of the history of this repository, with the
// packages that are installed here. Where the history is not there (a shallow clone, an archive), it says so.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../support/owner.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** With each release this becomes the one that was released (docs/releasing.md). */
export const BEFORE = {
  version: '0.1.0',
  commit: '3b8f0c3621e15d621cf9f56a2ea7fa74cacdc4eb',
  /** Its newest migration: those up to it are its schema, and are never edited (test/house/migrations.test.ts). */
  lastMigration: '0010_console_sessions',
  /** What `paybell` is there, and what it needs. */
  command: 'server/main.ts',
  folders: ['server', 'migrations', 'package.json'],
} as const

/** Why it cannot be had here; null where it can. */
export function whyNoVersionBefore(): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${BEFORE.commit}^{commit}`], {
      cwd: ROOT,
      stdio: 'ignore',
    })
    return null
  } catch {
    return `the history of this checkout does not reach back to ${BEFORE.version} (commit ${BEFORE.commit.slice(0, 7)}): git fetch --unshallow brings it`
  }
}

/** Unpacks it into a folder of its own, which goes with its owner. Returns the path of its command. */
export function unpackVersionBefore(t: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), `paybell-${BEFORE.version}-`))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', BEFORE.commit, ...BEFORE.folders], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, BEFORE.command)
}
