// The Nodes of this machine: the one that runs the tests, and those that an integrator may have.

import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface FoundNode {
  path: string
  version: string
}

/** Of other versions than this one, 20 or later, in the order of the search path. */
export function otherNodes(): readonly FoundNode[] {
  const found = new Map<string, FoundNode>()
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(folder, 'node')
    if (folder === '' || !existsSync(candidate)) continue
    const path = realpathSync(candidate)
    if (path === realpathSync(process.execPath)) continue
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()
    if (version === process.version || Number(/^v(\d+)/.exec(version)?.[1]) < 20) continue
    if (!found.has(version)) found.set(version, { path, version })
  }
  return [...found.values()]
}

export const THIS_NODE: FoundNode = { path: process.execPath, version: process.version }
