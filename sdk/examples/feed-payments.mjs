// Feeds a file of payments in, a line of JSON each, and goes on where it stopped last time.
// `SANDBOX=…/sandbox.json node feed-payments.mjs payments.ndjson [progress file]`

import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parseExact } from '@paybell/sdk'
import { createProducer } from '@paybell/sdk/operator'

const [, , file, progressFile = `${file}.progress`] = process.argv
const producer = createProducer(JSON.parse(await readFile(process.env.SANDBOX, 'utf8')))
const from = Number(await readFile(progressFile, 'utf8').catch(() => '0'))

async function* payments() {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    // Keeps the digits of the amount, which JSON.parse would not.
    yield parseExact(line)
  }
}

const onWait = ({ ms, reason }) => console.error(`waits ${ms} ms: ${reason}`)
for await (const { index, id, event, problem } of producer.putAll(payments(), { from, onWait })) {
  console.log(
    index,
    id,
    problem ? `${problem.code}: ${problem.detail}` : (event?.type ?? 'as it was'),
  )
  // After each result: if this process dies now, nothing that was accepted makes a second event.
  await writeFile(progressFile, String(index + 1))
}
