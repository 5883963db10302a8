// What waits in the browser, and retry now, from each place that has the button. Hours stand between an attempt and the
// next one, and the receivers are fixed: what arrives was hurried by a click, and what is looked at stays as it is.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkNarrow, HOURS_APART, openSite } from './support.ts'

const site = await openSite({ after }, HOURS_APART)
const { paybell } = site

interface Item {
  id: string
  attempts: number
  endpointId: string
}

/** A client whose webhook is at a receiver of this very sandbox. */
async function addDemoShop(name: string, receiver: string) {
  const caller = new Caller(await addClient(paybell, name))
  const url = `${paybell.baseUrl}/sandbox/receiver/${receiver}`
  return { caller, endpointId: await caller.addWebhook(url, 'a-shared-key') }
}

/** A client whose only endpoint has refused `count` payments; its receiver is fixed since. */
async function addFixedShop(name: string, count = 1, refusal = 500) {
  const facts = await addClient(paybell, name)
  const receiver = await startReceiver({ after })
  const caller = new Caller(facts)
  assert.equal((await caller.register(receiver.url(), 'a-shared-key')).status, 200)
  receiver.answer = refusal
  for (let left = count; left > 0; left -= 1) await caller.write()
  const deliveries = await until(`${count} refused attempts`, async () => {
    const answer = await caller.get('/v1/deliveries?state=PENDING')
    const { items } = (await answer.json()) as { items: Item[] }
    return items.length === count && items.every(({ attempts }) => attempts > 0) ? items : undefined
  })
  const { id, endpointId } = deliveries[0] ?? assert.fail()
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
    await page.getByText('Delivered: the endpoint answered 200 to attempt 2').waitFor()
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
    await caller.changeWebhook(endpointId, { status: 'PAUSED' })
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

site.test('everything that is pending for an endpoint goes at once', {}, async (visit) => {
  const { page, go, signIn, checkAccessibility } = visit
  const shop = await addFixedShop('Two at once', 2)
  await signIn({ clientId: shop.clientId, clientSecret: shop.clientSecret })
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

site.test(
  'all pending deliveries that match a filter are retried, after a number and a question',
  { as: 'operator', allowedErrors: [/ERR_INTERNET_DISCONNECTED/] },
  async ({ page, go, checkAccessibility }) => {
    const { clientId, receiver } = await addFixedShop('In bulk', 3)
    await go(`/deliveries?clientId=${clientId}`)
    await page.getByRole('button', { name: 'Retry all that match…' }).click()
    const counted = page.getByRole('dialog').getByRole('table', { name: 'By endpoint' })
    await counted.getByRole('row', { name: /In bulk active 3$/ }).waitFor()
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
    await counted.getByRole('row', { name: /In bulk active 3$/ }).waitFor()
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

site.test(
  'a pending delivery counts down to its next attempt, is cancelled, and all its times are in one zone',
  { as: 'operator', width: 380, zone: 'Asia/Kolkata' },
  async ({ page, go, checkAccessibility }) => {
    const { id } = await addFixedShop('Counting', 1, 204)
    await go(`/deliveries/${id}`)
    await page.getByText('204 is not 200: retry scheduled').waitFor()
    await page.locator('figure .next-text', { hasText: /in \d h/ }).waitFor()
    await checkAccessibility()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(width) <= 380, `the page is ${width} px wide`)
    await page.getByRole('button', { name: 'Cancel delivery…' }).click()
    await page.getByRole('button', { name: 'Cancel the delivery' }).click()
    await page.getByText(/^Cancelled by the operator/).waitFor()

    const isIn = async (timeZone: string) => {
      const shown = await page.evaluate<[at: string, text: string][]>(
        `[...document.querySelectorAll('.explanation time, table time')]
           .map(({ dateTime, textContent }) => [dateTime, textContent])`,
      )
      const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone })
      return (
        shown.length > 1 && shown.every(([at, text]) => text.includes(clock.format(new Date(at))))
      )
    }
    await until('all times are in Kolkata', () => isIn('Asia/Kolkata'))
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByText('Times are in Asia/').waitFor()
    await page.getByRole('button', { name: 'UTC' }).click()
    await until('all times are in UTC', () => isIn('UTC'))
    await page.reload()
    await page.getByText(/^Cancelled by the operator/).waitFor()
    await until('they still are: the browser keeps the choice', () => isIn('UTC'))
  },
)

site.test(
  'an endpoint that is broken shows it, and is healthy again once it is fixed and retried',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    const { caller, endpointId } = await addDemoShop('Fragile', 'fragile')
    const button = (name: string) => page.getByRole('button', { name })
    await go(`/endpoints/${endpointId}`)
    await button('Break').click()
    await button('Fix').waitFor()
    await caller.write()
    await page.getByText(/failing since/).waitFor()
    await page.getByRole('region', { name: 'Health' }).getByRole('link', { name: '1' }).click()
    await page.getByRole('table', { name: 'Deliveries' }).getByText('PENDING').waitFor()
    await checkAccessibility()
    await page.evaluate('scrollTo(0, 0)')
    await page.getByRole('navigation').getByRole('link', { name: 'Endpoints' }).click()
    await page.getByLabel('Health').selectOption('true')
    await page
      .getByRole('row', { name: /receiver\/fragile/ })
      .getByText('failing')
      .waitFor()
    await page.getByRole('link', { name: /receiver\/fragile/ }).click()
    await button('Fix').click()
    await button('Break').waitFor()
    await button('Retry now').click()
    await page.getByRole('region', { name: 'Health' }).getByText('healthy').waitFor()
    await checkAccessibility()
    await checkNarrow(page)
    const series = page.getByRole('region', { name: 'Attempts by the hour' })
    await series.getByRole('img', { name: /^Attempts per hour: / }).waitFor()
    await series.getByRole('img', { name: /^Latency of attempts: / }).waitFor()
    await series.getByText('As a table').first().click()
    const hours = series.locator('.chart-rows').first().locator('tbody tr')
    assert.equal(await hours.count(), 24)
    await series.getByRole('button', { name: '7 days' }).click()
    await until('each hour of a week', async () => (await hours.count()) === 168)
    await go('/endpoints')
    await page
      .getByRole('row', { name: /receiver\/fragile/ })
      .getByText('healthy')
      .waitFor()
    await checkAccessibility()
    await shoot('endpoints')
    await checkNarrow(page)
  },
)
