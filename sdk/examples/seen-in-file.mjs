// What was handled before, in a file: for one process that restarts. A line is added when an event was handled, and
// nothing is ever changed, so a crash loses at most the line that it broke. Count and digest of each hour follow from
// the ids, so they cannot differ from what is remembered.
//
//   const receiver = createReceiver({ sharedKey, onPayment, seen: await createFileSeen('seen.txt') })

import { appendFile, readFile } from 'node:fs/promises'
import { createMemorySeen } from '@paybell/sdk'

/** The file grows by some 90 bytes an event: begin a new one now and then. */
export async function createFileSeen(path, { entriesMax = 1_000_000 } = {}) {
  const memory = createMemorySeen({ entriesMax })
  const known = new Set()
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  for (const line of text.split('\n')) {
    const [id, paymentId, sequence] = line.split(' ')
    if (id.length !== 36 || sequence === undefined) continue
    known.add(id)
    await memory.settle({
      id,
      paymentId,
      sequence: sequence === '-' ? undefined : Number(sequence),
    })
  }
  // A line that a crash has broken off must not swallow the next one.
  if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n')

  return {
    ...memory,
    async settle(event) {
      const { id, paymentId, sequence } = event
      // First the disk: what is counted is remembered.
      if (!known.has(id)) {
        await appendFile(path, `${id} ${paymentId} ${sequence ?? '-'}\n`, { flush: true })
        known.add(id)
      }
      await memory.settle(event)
    },
  }
}
