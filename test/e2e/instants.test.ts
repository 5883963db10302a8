// Every parameter and field that takes an instant takes the same ones: what RFC 3339 can write is accepted,
// however long ago, and anything else is refused, in queries as in payments. Never a 500.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Paybell, startPaybell } from '../support/paybell.ts'

const TAKEN = [
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00Z',
  '1000-06-15T12:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '2024-02-29T00:00:00Z',
  '2026-11-15t06:00:00.123456789+05:30',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59.999999999-23:59',
]

const REFUSED = [
  '2026-11-15T24:00:00Z',
  '2026-11-15T23:59:60Z',
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-15T06:00:00+24:00',
  '2026-11-15T06:00:00',
  '2026-11-15',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  'yesterday',
  '',
]

type Ask = (instant: string) => Promise<Response>

/** Everything that is asked with an instant: lists, and acts that only preview. */
async function asks(paybell: Paybell): Promise<ReadonlyMap<string, Ask>> {
  const { caller, accountId } = paybell
  const webhookId = await caller.addWebhook('http://127.0.0.1:9/', 'key')
  const path = `/v1/webhooks/${webhookId}/recover?dryRun=true`
  const asked = new Map<string, Ask>()
  for (const name of ['from', 'to']) {
    const query = (instant: string) => `?${name}=${encodeURIComponent(instant)}`
    asked.set(`/v1/deliveries ${name}`, (at) => caller.get(`/v1/deliveries${query(at)}`))
    for (const list of ['deliveries', 'payments', 'audit']) {
      asked.set(`/operator/v1/${list} ${name}`, (at) =>
        caller.operate('GET', `/${list}${query(at)}`),
      )
    }
    for (const act of ['replay', 'cancel']) {
      asked.set(`bulk ${act} ${name}`, (at) =>
        caller.operate('POST', `/deliveries/${act}`, {
          filter: { [name]: at, accountId },
          dryRun: true,
        }),
      )
    }
  }
  asked.set('recover since', (at) => caller.call('POST', path, { since: at }))
  asked.set('recover until', (at) =>
    // Nothing lies before the beginning: there it is the order of the two that is refused.
    caller.call('POST', path, { since: '0000-01-01T00:00:00+23:59', until: at }),
  )
  return asked
}

test('regression: an instant of RFC 3339 is answered everywhere, and any other refused everywhere', async (t) => {
  const paybell = await startPaybell(t)
  for (const [name, ask] of await asks(paybell)) {
    for (const instant of TAKEN) {
      const answer = await ask(instant)
      const isBeginning = name === 'recover until' && instant === '0000-01-01T00:00:00+23:59'
      assert.equal(answer.status, isBeginning ? 400 : 200, `${name} ${instant}`)
      await answer.body?.cancel()
    }
    for (const instant of REFUSED) {
      const answer = await ask(instant)
      const { errors } = (await answer.json()) as { errors?: { code: string }[] }
      assert.equal(answer.status, 400, `${name} ${instant}`)
      assert.equal(errors?.[0]?.code, 'not-a-date-time', `${name} ${instant}`)
    }
  }
})

test('a payment takes and refuses the same instants', async (t) => {
  const { caller } = await startPaybell(t)
  const put = async (createdAt: string) => {
    const id = randomUUID()
    return (await caller.putSample(id, { createdAt })).status
  }
  for (const instant of TAKEN) assert.equal(await put(instant), 201, instant)
  for (const instant of REFUSED) assert.equal(await put(instant), 400, instant)
})
