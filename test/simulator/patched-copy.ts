// A copy of the service with some files changed: how a deliberate fault gets into code that is otherwise the real one.

import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChangedFiles } from './mutated-files.ts'

export interface PatchedCopy {
  root: string
  remove(): Promise<void>
}

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Laid out as the project is, so that its own tests run on the copy. Tests are copied too: through a link
 * they would import the original.
 */
export async function copyWith(
  changed: ChangedFiles,
  parts: readonly string[],
): Promise<PatchedCopy> {
  const root = await mkdtemp(join(tmpdir(), 'paybell-mutant-'))
  const copy = { root, remove: () => rm(root, { recursive: true, force: true }) }
  try {
    for (const part of ['package.json', ...parts]) {
      await cp(join(PROJECT, part), join(root, part), { recursive: true })
    }
    await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
    for (const [file, text] of changed) await writeFile(join(root, file), text)
    return copy
  } catch (error) {
    await copy.remove()
    throw error
  }
}
