// `paybell reconcile` on a machine whose clock is not the service's.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { runCommand } from '../support/command-line.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeDataDir } from '../support/sandbox.ts'

const HOUR_MS = 3_600_000
const t = { after }
const paybell = await startPaybell(t)
const receiver = await startReceiver(t)
const dir = await makeDataDir(t)

/** Loaded before the command: its clock is off by so much, everything else is as it is. */
async function makeClock(offMs: number): Promise<string> {
  const path = join(dir, `clock${offMs}.mjs`)
  await writeFile(
    path,
    `const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) { super(...(given.length === 0 ? [Real.now() + ${offMs}] : given)) }
  static now() { return Real.now() + ${offMs} }
}
`,
  )
  return `--import=${pathToFileURL(path).href}`
}

test('regression: reconcile ends its period with the open hour of the service, whatever the clock here says', async () => {
  const { caller } = paybell
  const webhookId = await caller.addWebhook(receiver.url(), 'a shared key of some length')
  const id = randomUUID()
  assert.equal((await caller.putPayment(id, sampleBody({ id, version: undefined }))).status, 201)
  const eventId = await until('it is delivered', async () => {
    const answer = await caller.get('/v1/deliveries?state=DELIVERED')
    const { items } = (await answer.json()) as { items: { eventId: string }[] }
    return items[0]?.eventId
  })
  for (const offMs of [HOUR_MS, -HOUR_MS, 0]) {
    const { code, stdout, stderr } = await runCommand(
      t,
      ['reconcile', webhookId, '--ids', '-', '--json'],
      {
        input: `${eventId}\n`,
        env: {
          NODE_OPTIONS: await makeClock(offMs),
          PAYBELL_URL: paybell.baseUrl,
          PAYBELL_CLIENT_ID: paybell.clientId,
          PAYBELL_CLIENT_SECRET: paybell.clientSecret,
        },
      },
    )
    assert.equal(code, 0, `${offMs}: ${stderr}`)
    const { statement, isComplete, outside } = JSON.parse(stdout)
    assert.deepEqual([isComplete, statement.delivered], [true, 1], `${offMs}`)
    assert.deepEqual(outside, { before: 0, after: 0, impossible: [] })
  }
})
