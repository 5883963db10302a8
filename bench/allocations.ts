// `node bench/allocations.ts batch 20000 .`: bytes that the service of a checkout allocates for a delivery, by file and by
// function. Unlike time they hardly depend on what else the machine does, and each has to be collected. What native code
// and Node allocate counts for the file that called them; the memory of large buffers is outside V8's heap and does not.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Feed, limitsOf, measureFeed } from './harness/measure.ts'
import { Stage } from './harness/stage.ts'
import type { RunningSystem } from './harness/system.ts'
import { type AllocationNode, sumAllocations } from './report/allocations.ts'

const FILES_SHOWN = 45
const FUNCTIONS_SHOWN = 60

const [feed, count, checkout = '.'] = process.argv.slice(2)
if ((feed !== 'put' && feed !== 'batch') || !Number(count)) {
  console.log('node bench/allocations.ts put|batch <payments> [<checkout>]')
  process.exit(1)
}
await sample(feed, Number(count))

async function sample(feed: Feed, count: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-allocations-'))
  const file = join(dir, 'profile.json')
  const { startPaybell } = await import(resolve(checkout, 'bench/paybell/system.ts'))
  const stage = await Stage.open()
  const paybell: RunningSystem = await startPaybell({
    receiverUrl: stage.receiverUrl,
    endpoints: 20,
    nodeArguments: ['--import', new URL('./paybell/allocation-sampler.ts', import.meta.url).href],
    env: { ALLOCATIONS_FILE: file },
  })
  try {
    const { baseUrl, operatorKey, accountIds } = paybell
    await stage.aim({ baseUrl, operatorKey, accountIds, seed: 'allocations' })
    const feedOnce = () =>
      measureFeed(stage, paybell, () => stage.feed({ ...limitsOf(feed, 3_600), countMax: count }))
    await feedOnce() // To warm up.
    const pid = paybell.pids[0] as number
    process.kill(pid, 'SIGUSR2')
    await delay(500)
    const { deliveries } = await feedOnce()
    process.kill(pid, 'SIGUSR2')
    print(await readProfile(file), deliveries)
  } finally {
    await paybell.stop()
    await stage.close()
    await rm(dir, { recursive: true, force: true })
  }
}

async function readProfile(file: string): Promise<AllocationNode> {
  for (let tries = 0; tries < 150; tries++) {
    try {
      return JSON.parse(await readFile(file, 'utf8')).head
    } catch {
      await delay(200) // Not there yet, or half of it.
    }
  }
  throw new Error('no profile was written')
}

function print(head: AllocationNode, deliveries: number): void {
  const { byFile, byFunction, total } = sumAllocations(head)
  const show = ([name, bytes]: readonly [string, number]) =>
    console.log(`${(bytes / deliveries).toFixed(0).padStart(7)}  ${name}`)
  console.log(`Bytes a delivery, of ${deliveries}:`)
  show(['in all', total])
  console.log('\nBy file')
  for (const row of byFile.slice(0, FILES_SHOWN)) show(row)
  console.log('\nBy function')
  for (const row of byFunction.slice(0, FUNCTIONS_SHOWN)) show(row)
}
