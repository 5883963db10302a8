// The product of a scenario: this checkout, or the one of a commit, taken out of the history. So a scenario can be
// seen to fail where its fault was not dealt with. It is used through its command line and its interface alone.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../../support/owner.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDERS = ['cli', 'docs', 'migrations', 'sdk', 'server', 'package.json']
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024

/** The path of its `paybell`. */
export function findProduct(t: Owner, commit: string | null): string {
  return join(commit === null ? ROOT : unpack(t, commit), 'cli/main.ts')
}

/** With the packages that are installed here. */
function unpack(t: Owner, commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'pb-product-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', commit, ...FOLDERS], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES_MAX,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
