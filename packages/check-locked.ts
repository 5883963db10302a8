// Compares what npm has installed with what was tested: `check-locked.ts <tested lock> <installed lock>` names every
// package of the second lock file that is not in the first with the same bytes, and fails.

import { readFileSync } from 'node:fs'

interface Locked {
  packages: Record<string, { version?: string; integrity?: string }>
}

const [tested, installed] = process.argv.slice(2).map((path) => {
  return (JSON.parse(readFileSync(path, 'utf8')) as Locked).packages
}) as [Locked['packages'], Locked['packages']]

const known = new Set(Object.values(tested).map(({ integrity }) => integrity))
const isOurs = (path: string) => path === '' || path === 'node_modules/paybell'
const others = Object.entries(installed).filter(([path, { integrity }]) => {
  return !isOurs(path) && !(integrity && known.has(integrity))
})
for (const [path, { version }] of others) console.error(`${path} ${version} was not tested`)
if (others.length > 0) process.exitCode = 1
else
  console.log(
    `${Object.keys(installed).filter((path) => !isOurs(path)).length} packages, all as tested`,
  )
