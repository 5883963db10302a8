// Walks through the feed of events from where it stopped last time: a check that no callback was
// missed, or a way to work without callbacks. `SANDBOX=…/sandbox.json node reconcile.mjs [cursor file]`

import { readFile, writeFile } from 'node:fs/promises'
import { createClient } from '@paybell/sdk'

const paybell = createClient(JSON.parse(await readFile(process.env.SANDBOX, 'utf8')))
const cursorFile = process.argv[2] ?? 'cursor.txt'
const after = await readFile(cursorFile, 'utf8').catch(() => undefined)

for await (const { items, next } of paybell.events.pages({ after })) {
  for (const { event, sequence, payment } of items) {
    console.log(payment.id, sequence, event, payment.amount.amount)
  }
  // Only now: if this process dies before, the page comes again.
  await writeFile(cursorFile, next)
}
