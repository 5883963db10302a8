// The statement of an endpoint and the receipt of a delivery in the browser: an hour with an exhausted delivery shows,
// a click lists it and has it sent again, and then the hour has none.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { PLAIN } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { HOURS_APART, openSite } from './support.ts'

const site = await openSite({ after }, HOURS_APART)
const { paybell } = site

interface Item {
  id: string
  paymentId: string
  state: string
  attempts: number
  endpointId: string
}

/** A client with one delivered event and one that was given up; its receiver is fixed since. */
async function addShop(name: string) {
  const facts = await addClient(paybell, name)
  const receiver = await startReceiver({ after })
  const caller = new Caller(facts)
  assert.equal((await caller.register(receiver.url(), 'a-shared-key')).status, 200)
  const refused = randomUUID()
  receiver.answer = ({ body }) => (JSON.parse(body.toString()).id === refused ? 500 : 200)
  for (const id of [randomUUID(), refused]) {
    assert.ok((await caller.putSample(id, PLAIN)).ok)
  }
  const items = await until('both were attempted', async () => {
    const answer = await caller.get('/v1/deliveries')
    const { items } = (await answer.json()) as {
      items: Item[]
    }
    return items.length === 2 && items.every(({ attempts }) => attempts > 0) ? items : undefined
  })
  const pending = items.find(({ state }) => state === 'PENDING') ?? assert.fail()
  // As after 7 days.
  await paybell.pool.query(
    `with gone as (delete from pending_deliveries where id = $1 returning *)
     insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status)
     select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at,
       'EXHAUSTED', attempts, deadline_at, now(), last_outcome, last_status from gone`,
    [pending.id],
  )
  receiver.answer = 200
  const delivered = items.find(({ state }) => state === 'DELIVERED') ?? assert.fail()
  return { ...facts, receiver, delivered, endpointId: pending.endpointId }
}

for (const as of ['operator', 'client'] as const) {
  site.test(
    `an hour with an exhausted delivery is found and recovered: ${as}`,
    {},
    async (visit) => {
      const { page, go, signIn, checkAccessibility } = visit
      const { clientId, clientSecret, endpointId, receiver } = await addShop(`Stated for ${as}`)
      await signIn(as === 'operator' ? as : { clientId, clientSecret })
      await go(`/endpoints/${endpointId}?tab=recover`)
      await page.getByRole('button', { name: 'Check that nothing is missing' }).click()
      await page.getByText('1 of 2 delivered, 1 exhausted.').waitFor()
      assert.equal(await page.locator('.calendar tbody tr').count(), 31)
      await page.getByRole('button', { name: /with exhausted ones, 1 of 2 delivered/ }).click()
      await page.getByRole('table', { name: 'Not delivered in this hour' }).waitFor()
      await checkAccessibility()
      await page.getByRole('button', { name: 'Send 1 again' }).click()
      const before = receiver.received.length
      await page.getByRole('dialog').getByRole('button', { name: 'Send 1 again' }).click()
      await receiver.hasSeen(({ received }) => received.length > before)
      await until('the statement says so', async () => {
        await page.getByRole('button', { name: 'Check again' }).click()
        return page.getByText('2 of 2 delivered.').isVisible()
      })
    },
  )
}

site.test('a delivered event has a receipt to show and to save', {}, async (visit) => {
  const { page, go, signIn, checkAccessibility } = visit
  const { clientId, clientSecret, delivered } = await addShop('With a receipt')
  await signIn({ clientId, clientSecret })
  await go(`/deliveries/${delivered.id}`)
  const button = page.getByRole('button', { name: 'Receipt', exact: true })
  await button.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('bodySha256').waitFor()
  await checkAccessibility()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download' }).click(),
  ])
  assert.equal(download.suggestedFilename(), `${delivered.id}.jws`)
  await page.keyboard.press('Escape')
  // The button was disabled while the receipt was made, and gets the focus back all the same.
  await page.locator('button:focus', { hasText: 'Receipt' }).waitFor()

  const erased = await paybell.caller.operate('POST', `/payments/${delivered.paymentId}/erase`)
  assert.equal(erased.status, 200)
  await go(`/deliveries/${delivered.id}`)
  await page.getByText('Without the body there is no signed receipt.').waitFor()
  assert.equal(await button.count(), 0, 'none is offered that would be refused')
  await checkAccessibility()
})
