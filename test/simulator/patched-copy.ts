// A copy of the service's own modules with some text replaced: how a deliberate fault gets into code
// that is otherwise the real one. A replacement that does not match exactly once is an error, so that
// a mutant cannot quietly become the original.

import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVER } from './subject.ts'

export interface Patch {
  file: string
  find: string
  replace: string
}

export interface PatchedCopy {
  root: string
  remove(): Promise<void>
}

export async function copyWith(patches: readonly Patch[]): Promise<PatchedCopy> {
  const root = await mkdtemp(join(tmpdir(), 'paybell-mutant-'))
  const parts = ['core', 'delivery', 'store', 'package.json']
  for (const part of parts) {
    await cp(join(SERVER, part), join(root, part), { recursive: true })
  }
  await apply(root, patches)
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

/**
 * All of the service, laid out so that its own tests run on it: `root` is the folder above. What the tests
 * are supported by is the original.
 */
export async function treeWith(patches: readonly Patch[]): Promise<PatchedCopy> {
  const root = await mkdtemp(join(tmpdir(), 'paybell-mutant-'))
  await cp(SERVER, join(root, 'server'), { recursive: true })
  for (const part of ['test', 'node_modules']) {
    await symlink(join(SERVER, '..', part), join(root, part))
  }
  await apply(join(root, 'server'), patches)
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

async function apply(root: string, patches: readonly Patch[]): Promise<void> {
  for (const { file, find, replace } of patches) {
    const path = join(root, file)
    const text = await readFile(path, 'utf8')
    const matches = text.split(find).length - 1
    if (matches !== 1) throw new Error(`${file}: ${matches} matches of ${JSON.stringify(find)}`)
    await writeFile(
      path,
      text.replace(find, () => replace),
    )
  }
}
