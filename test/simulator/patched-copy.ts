// A copy of the service with some text replaced: how a deliberate fault gets into code that is otherwise the
// real one. A replacement that does not match exactly once is an error, so that a mutant cannot quietly
// become the original.

import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Patch {
  /** From the project's root on. */
  file: string
  find: string
  replace: string
}

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
  patches: readonly Patch[],
  parts: readonly string[],
): Promise<PatchedCopy> {
  const root = await mkdtemp(join(tmpdir(), 'paybell-mutant-'))
  const copy = { root, remove: () => rm(root, { recursive: true, force: true }) }
  try {
    for (const part of ['package.json', ...parts]) {
      await cp(join(PROJECT, part), join(root, part), { recursive: true })
    }
    await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
    for (const patch of patches) await apply(root, patch)
    return copy
  } catch (error) {
    await copy.remove()
    throw error
  }
}

async function apply(root: string, patch: Patch): Promise<void> {
  const path = join(root, patch.file)
  await writeFile(path, patched(await readFile(path, 'utf8'), patch))
}

export function patched(text: string, { file, find, replace }: Patch): string {
  const matches = text.split(find).length - 1
  if (matches !== 1) throw new Error(`${file}: ${matches} matches of ${JSON.stringify(find)}`)
  return text.replace(find, () => replace)
}
