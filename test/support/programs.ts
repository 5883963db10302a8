// Programs that a machine may have and Paybell does not need: a test that wants one is skipped where it is missing,
// and says so.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where it is; null where it is not installed. Administrators' folders are often not in the path. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

/** For the options of a test. */
export function skipWithout(...names: string[]): string | false {
  const missing = names.filter((name) => findProgram(name) === null)
  return missing.length > 0 && `${missing.join(' and ')}: not installed here`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
