#!/usr/bin/env node
// The command `paybell` of the packages, in JavaScript that any Node reads: one that is too old for the rest
// says so in a sentence. The service gets its memory flags by being started once more in the same process,
// where Node can do that.

// Of the package that this is part of: its manifest says so to npm, and the build writes it here.
const OLDEST = '22.22.0'
const IS_SERVICE = ['serve', 'sandbox'].includes(process.argv[2])

const [major, minor] = process.versions.node.split('.').map(Number)
const [oldestMajor, oldestMinor = 0] = OLDEST.split('.').map(Number)
const FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=150']
// A library looks whether there is SQLite, and Node 22 warns of it.
if (major === 22) FLAGS.push('--disable-warning=ExperimentalWarning')

if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  console.error(
    `paybell: Paybell needs Node ${OLDEST.replace(/\.0$/, '')} or later, and this is Node ${major}.${minor}. Install a newer one from https://nodejs.org.`,
  )
  process.exitCode = 1
} else {
  if (IS_SERVICE && process.execArgv.length === 0 && process.execve) {
    const args = [process.execPath, ...FLAGS, ...process.argv.slice(1)]
    process.execve(process.execPath, args, process.env)
  }
  import('./esm/code/main.js')
}
