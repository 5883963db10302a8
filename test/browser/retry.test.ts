// Retry now in the browser, from each place that has the button, and what a delivery waits for until then.
// A delay of hours stands between an attempt and the next one, and the receivers are fixed: what arrives
// was hurried by a click.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { addClient, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { Caller } from '../support/sandbox.ts'
import { openSite } from './support.ts'

const site = await openSite({ after })
const { paybell } = site

interface Item {
  id: string
  attempts: number
  endpointId: string
}

/** As after twenty attempts: in the table, and in memory. */
async function moveHoursAway(endpointId: string): Promise<void> {
  const { rows } = await paybell.pool.query<{ client_key: number; shard: number }>(
    `update pending_deliveries
     set next_attempt_at = now() + interval '6 hours', attempts = 20, run_attempts = 20
     where endpoint_id = $1 returning client_key, shard`,
    [endpointId],
  )
  const { client_key, shard } = rows[0] ?? assert.fail()
  paybell.app.deps.engine.endpointChanged(client_key, endpointId, shard)
}

/** A client whose only endpoint has refused `count` payments; its receiver is fixed since. */
async function addFixedShop(name: string, count = 1) {
  const facts = await addClient(paybell, name)
  const receiver = await startReceiver({ after })
  const caller = new Caller(facts)
  assert.equal((await caller.register(receiver.url(), 'a-shared-key')).status, 200)
  receiver.answer = 500
  for (let left = count; left > 0; left -= 1) {
    const id = randomUUID()
    const body = sampleBody({ id, version: undefined, document: undefined })
    assert.ok((await caller.putPayment(id, body)).ok)
  }
  const deliveries = await until(`${count} refused attempts`, async () => {
    const answer = await caller.get('/v1/deliveries?state=PENDING')
    const { items } = (await answer.json()) as { items: Item[] }
    return items.length === count && items.every(({ attempts }) => attempts > 0) ? items : undefined
  })
  const { id, endpointId } = deliveries[0] ?? assert.fail()
  await moveHoursAway(endpointId)
  receiver.answer = 200
  return { ...facts, receiver, caller, id, endpointId }
}

site.test(
  'a pending delivery whose receiver was fixed is delivered after a click',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    const { receiver, id } = await addFixedShop('Retried by the operator')
    await go(`/deliveries/${id}`)
    const first = page.locator('.page-head').getByRole('button').first()
    assert.equal(await first.textContent(), 'Retry now')
    await checkAccessibility()
    await first.click()
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    await page.getByText('Delivered: the endpoint answered 200 to attempt 21').waitFor()
    await page.getByRole('button', { name: 'Replay', exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Retry now' }).count(), 0)
  },
)

site.test(
  'a retry at an endpoint that is paused leads to where it is resumed',
  { allowedErrors: [/409 \(Conflict\).*retry/] },
  async ({ page, go, signIn }) => {
    const { clientId, clientSecret, caller, receiver, id, endpointId } =
      await addFixedShop('Paused')
    await signIn({ clientId, clientSecret })
    await caller.call('PATCH', `/v1/webhooks/${endpointId}`, { status: 'PAUSED' })
    await go(`/deliveries/${id}`)
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByRole('dialog').getByText('Resume the endpoint first').waitFor()
    assert.equal(receiver.accepted.length, 0)
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /Open the endpoint/ })
      .click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  },
)

site.test('a client retries its own delivery', {}, async ({ page, go, signIn }) => {
  const { clientId, clientSecret, receiver, id } = await addFixedShop('Retried by its client')
  await signIn({ clientId, clientSecret })
  await go(`/deliveries/${id}`)
  await page.getByRole('button', { name: 'Retry now' }).click()
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  await page.getByText('Delivered: your endpoint answered 200 to attempt 21').waitFor()
})

for (const as of ['operator', 'client'] as const) {
  site.test(`everything that is pending for an endpoint goes at once: ${as}`, {}, async (visit) => {
    const { page, go, signIn, checkAccessibility } = visit
    const shop = await addFixedShop(`Two for the ${as}`, 2)
    const { clientId, clientSecret } = shop
    await signIn(as === 'operator' ? as : { clientId, clientSecret })
    await go(`/endpoints/${shop.endpointId}`)
    const first = page.locator('.page-head').getByRole('button').first()
    await first.and(page.getByText('Retry now')).waitFor()
    await checkAccessibility()
    await first.click()
    await page.getByText('2 deliveries are sent now').waitFor()
    await shop.receiver.hasSeen(({ accepted }) => accepted.length === 2)
    // With nothing left to retry the button goes.
    await first.and(page.getByText('Pause')).waitFor()
  })
}

site.test(
  'all pending deliveries that match a filter are retried, after a number and a question',
  { as: 'operator', allowedErrors: [/ERR_INTERNET_DISCONNECTED/] },
  async ({ page, go, checkAccessibility }) => {
    const { clientId, receiver } = await addFixedShop('In bulk', 3)
    await go(`/deliveries?clientId=${clientId}`)
    await page.getByRole('button', { name: 'Retry all that match…' }).click()
    const counted = page.getByRole('dialog').getByRole('table', { name: 'By endpoint' })
    await counted.getByRole('row', { name: /In bulk ACTIVE .* 3$/ }).waitFor()
    await checkAccessibility()

    // regression: what is dismissed while the browser is offline is not sent when it is online again.
    const begun: string[] = []
    page.on('request', (request) => {
      if (/deliveries\/retry$/.test(request.url())) begun.push(request.postData() ?? '')
    })
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Retry 3 deliveries' }).click()
    await page.getByRole('dialog').getByText('The service cannot be reached').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Retry all that match…' }).click()
    await counted.getByRole('row', { name: /In bulk ACTIVE .* 3$/ }).waitFor()
    assert.equal(begun.length, 1, 'the one that failed at once')
    assert.equal(receiver.accepted.length, 0)
    await page.getByRole('button', { name: 'Retry 3 deliveries' }).click()
    await page.getByText('3 of 3').waitFor()
    // What is made while the question stands is not in what was confirmed.
    assert.ok(Date.parse(JSON.parse(begun[1] ?? '{}').filter.to) <= Date.now())
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)

    // regression: another job that is begun on the same page is watched until it ends, as the first one was.
    let reads = 0
    await page.route('**/operator/v1/jobs/*', async (route) => {
      const response = await route.fetch()
      const job = await response.json()
      if (reads++ === 0) await route.fulfill({ response, json: { ...job, state: 'RUNNING' } })
      else await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Replay all that match…' }).click()
    await page.getByRole('button', { name: /^Replay \d deliver/ }).click()
    await page.getByRole('region', { name: 'Bulk replay' }).getByText('DONE').waitFor()
    await page.unroute('**/operator/v1/jobs/*')

    // The job shows its outcome and leads to its deliveries.
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click()
    const jobs = page.getByRole('table', { name: 'Jobs' })
    await jobs.getByRole('row', { name: /^Bulk retry DONE 3 of 3/ }).waitFor()
    await checkAccessibility()
    await jobs.getByRole('link', { name: 'Bulk retry' }).click()
    const outcome = page.getByRole('region', { name: 'Delivery status' })
    await until('all three are delivered', async () =>
      /Delivered\s*3\b/.test(await outcome.innerText()),
    )
    await page.getByRole('table', { name: 'By endpoint' }).getByTitle(receiver.url()).waitFor()
    await checkAccessibility()
    await outcome.getByRole('link', { name: 'Show its deliveries' }).click()
    await page.waitForURL(/deliveries\?job=/)
    await page.getByText('3 shown, end of list').waitFor()

    await page.getByRole('button', { name: 'Retry all that match…' }).click()
    await page
      .getByRole('dialog')
      .getByText('No pending delivery of an active endpoint matches')
      .waitFor()
  },
)

site.test(
  'what waits for an endpoint that is down shows when the endpoint is probed next',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    const { id, endpointId } = await addFixedShop('Down')
    await until('its health is written', async () => {
      const written = await paybell.pool.query(
        `update endpoint_health set circuit = 'OPEN', next_probe_at = now() + interval '7 hours'
         where endpoint_id = $1 and failing_since is not null`,
        [endpointId],
      )
      return written.rowCount === 1
    })
    await go(`/deliveries/${id}`)
    await page.getByText(/waits for the endpoint’s next probe, in 6 h/).waitFor()
    await go(`/endpoints/${endpointId}`)
    const health = page.getByRole('region', { name: 'Health' })
    await health.getByText('Next probe').waitFor()
    await health.getByText(/^in 6 h/).waitFor()
    await checkAccessibility()
    await go('/endpoints?failing=true')
    await page.getByText(/next probe in 6 h/).waitFor()
    await go('/')
    const troubled = page.getByRole('table', { name: 'Failing endpoints' })
    await troubled.getByText(/^in 6 h/).waitFor()
  },
)
