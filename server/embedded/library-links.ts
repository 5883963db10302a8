// PostgreSQL's libraries are found under several names. npm packs no links, so the package has a script
// that makes them when it is installed; where such scripts are off (`npm install --ignore-scripts`), they are
// made here.

import { lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join, relative } from 'node:path'

/** As the package lists them: paths from the folder above the programs'. */
interface Link {
  source: string
  target: string
}

/** `folder` is the programs' own, or a copy of it. One that cannot be written to is left as it is. */
export function addMissingLinks(folder: string): void {
  for (const { source, target } of readLinks(folder)) {
    const link = join(folder, relative('native', target))
    if (!exists(link)) tryToLink(basename(source), link)
  }
}

function readLinks(folder: string): readonly Link[] {
  try {
    return JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8'))
  } catch {
    // Packages of some platforms need none.
    return []
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function tryToLink(name: string, link: string): void {
  try {
    symlinkSync(name, link)
  } catch {
    // A folder of another user, or a process that started beside this one was quicker. What is missing then
    // is said when the programs are tried.
  }
}
