// What a client does in the browser about events that its endpoint never got, and about notices: a count first, then
// the sending; an offer after a filter was widened; an address for notices, and the newest of them.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { sendNotices } from '../../server/upkeep/send-notices.ts'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { openSite, openTab } from './support.ts'

const site = await openSite({ after })
const { paybell } = site

/** A client whose webhook gets paid payments only. */
async function addShop(name: string) {
  const facts = await addClient(paybell, name)
  const receiver = await startReceiver({ after })
  const caller = new Caller(facts)
  const events = ['payment.paid']
  const webhookId = await caller.addWebhook(receiver.url('/hook'), 'a-shared-key', { events })
  const put = () => caller.write()
  const { clientId, clientSecret } = facts
  return { client: { clientId, clientSecret }, receiver, put, webhookId }
}

site.test(
  'events that it never got are counted, sent, and offered with more kinds',
  {},
  async (v) => {
    const { page, go, signIn, checkAccessibility } = v
    const { client, put, webhookId, receiver } = await addShop('Catching up')
    const sent = (id: string) =>
      receiver.hasSeen(({ received }) =>
        received.some(
          ({ body, headers }) =>
            JSON.parse(body.toString()).id === id && headers['x-paybell-replay'] === 'true',
        ),
      )
    const first = await put()
    await signIn({ clientId: client.clientId, clientSecret: client.clientSecret })
    await go(`/endpoints/${webhookId}?kind=webhook&tab=recover`)
    const panel = page.getByRole('region', { name: 'Missed events' })
    await panel.getByRole('button', { name: 'Preview' }).click()
    await panel.getByText('1 would be sent, oldest first.').waitFor()
    await checkAccessibility()
    await panel.getByRole('button', { name: 'Send 1' }).click()
    assert.equal(receiver.received.length, 0, 'nothing is sent before it is confirmed')
    // regression: what is made while the question stands is not in what is confirmed.
    const later = await put()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 1' }).click()
    await page.getByText('1 queued to be sent.').waitFor()
    await sent(first)
    await panel.getByRole('button', { name: 'Preview' }).click()
    await panel.getByText('1 would be sent, oldest first.').waitFor()
    await panel.getByRole('button', { name: 'Send 1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 1' }).click()
    await sent(later)
    await panel.getByRole('button', { name: 'Preview' }).click()
    await panel.getByText('Nothing is missing').waitFor()

    const second = await put()
    await openTab(page, 'Settings')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('payment.created').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('It gets payment.created from now on.').waitFor()
    await dialog.getByText('1 of the last 7 days were never sent to it.').waitFor()
    await dialog.getByText('paybell webhooks replay-missing').waitFor()
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Send 1' }).click()
    await sent(second)
    const isClosed = async () => (await dialog.count()) === 0
    await until('the dialog is gone', isClosed)

    // Nothing to catch up with: no question.
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByLabel('payment.created').uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changed. It holds from now on.').last().waitFor()
    await until('the dialog is gone again', isClosed)
  },
)

site.test(
  'an address for notices is set, shows the newest, and is deleted',
  { allowedErrors: [/40[04].*\/v1\/notices$/] },
  async ({ page, go, signIn, checkAccessibility }) => {
    const { client, webhookId, receiver } = await addShop('Noticing')
    await signIn({ clientId: client.clientId, clientSecret: client.clientSecret })
    await go('/endpoints')
    await page.getByRole('button', { name: 'Show notices' }).click()
    await page.getByText('No address for notices yet').waitFor()
    await page.getByRole('button', { name: 'Set the address' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('http://example.com/notices')
    await dialog.getByLabel('Shared key').fill('a key of notices')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.locator('.field-error').first().waitFor()
    await dialog.getByLabel('Address').fill(receiver.url('/notices'))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(receiver.url('/notices')).waitFor()

    // As after two hours without a 200.
    await paybell.pool.query(
      `insert into endpoint_health (client_key, endpoint_id, failing_since, last_error)
       select client_key, id, now() - interval '2 hours', 'answered 503'
       from endpoints where id = $1`,
      [webhookId],
    )
    await sendNotices(paybell.app.deps)
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    await page.reload()
    await page.getByRole('button', { name: 'Show notices' }).click()
    const notices = page.getByRole('table', { name: 'Newest notices' })
    await notices.getByRole('cell', { name: 'Failing' }).waitFor()
    await notices.getByRole('link', { name: receiver.url('/hook') }).waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Get no more notices' }).click()
    await page.getByText('No address for notices yet').waitFor()
  },
)
