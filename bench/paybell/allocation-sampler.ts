// Loaded into the service before it starts (`--import`). SIGUSR2 begins to sample what is allocated, the next one ends
// that and writes the profile to ALLOCATIONS_FILE. What was collected in between counts as well.

import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
let isSampling = false

process.on('SIGUSR2', () => void (isSampling ? end() : begin()))

async function begin(): Promise<void> {
  isSampling = true
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4_096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
}

async function end(): Promise<void> {
  const { profile } = await session.post('HeapProfiler.stopSampling')
  await writeFile(process.env.ALLOCATIONS_FILE as string, JSON.stringify(profile))
}
