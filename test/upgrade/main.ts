// `npm run rehearse`: an upgrade from the version before under load, with two processes of each version and a
// crash of each. Options: --processes N, --endpoints N, --writers N, --callbacks N (between two steps), --no-kills.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../../server/embedded/database.ts'
import { readArguments, toCount } from '../support/number-arguments.ts'
import { rehearse } from './rehearsal.ts'
import { BEFORE, whyNoVersionBefore } from './version-before.ts'

const options = readArguments(() => {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      processes: { type: 'string', default: '2' },
      endpoints: { type: 'string', default: '20' },
      writers: { type: 'string', default: '8' },
      callbacks: { type: 'string', default: '1000' },
      kills: { type: 'boolean', default: true },
    },
  })
  return {
    processes: toCount('--processes', values.processes),
    endpoints: toCount('--endpoints', values.endpoints),
    writers: toCount('--writers', values.writers),
    callbacksPerStep: toCount('--callbacks', values.callbacks),
    kills: values.kills,
  }
})
const missing = whyNoVersionBefore()
if (missing !== null) {
  console.error(missing)
  process.exit(2)
}

const cleanUps: (() => Promise<void> | void)[] = []
const startedAt = performance.now()
const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`.padStart(8)
try {
  const dataDir = await mkdtemp(join(tmpdir(), 'paybell-rehearsal-'))
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }))
  const database = await startEmbedded({ dataDir, log: () => {}, ephemeral: true })
  cleanUps.push(() => database.stop())
  console.log(`${seconds()}  from ${BEFORE.version}`)
  const { faults, figures } = await rehearse(
    { after: (task) => cleanUps.push(task) },
    {
      databaseUrl: database.url,
      ...options,
      onStep: (line) => console.log(`${seconds()}  ${line}`),
    },
  )
  console.log(`${seconds()}  done`)
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${value}`)
  for (const fault of faults) console.log(`FAULT ${fault}`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp()
}
