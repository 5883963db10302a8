// Deliveries in the browser: the list as it moves, one delivery with its attempts on the curve, what was
// sent and what came back, replay and cancel of one and of all, and for a client only its own.

import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { PLAIN, SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { openSite } from './support.ts'

const KEY = 'a-shared-key-of-the-tests'
const EVIL = '<img src=x onerror=alert(1)>'
const FILE = Buffer.from('%PDF-1.7 a receipt, or so it says')

// The waits of 5, 10, 20 s become 50, 100, 200 ms; the 7 days not quite two hours.
const site = await openSite({ after }, { env: { PAYBELL_TIME_SCALE: '100' } })
const { paybell } = site
const owner = { after }

interface Item {
  id: string
  state: string
  endpointId: string
}

async function operator<T>(path: string): Promise<T> {
  const answer = await paybell.caller.operate('GET', path)
  assert.equal(answer.status, 200)
  return (await answer.json()) as T
}

async function deliveryOf(paymentId: string, state: string): Promise<Item> {
  return until(`the delivery of ${paymentId} ${state}`, async () => {
    const { items } = await operator<{ items: Item[] }>(`/deliveries?paymentId=${paymentId}`)
    return items.find((item) => item.state === state)
  })
}

/** One more client with one webhook, at a receiver of its own. */
async function addShop(name: string) {
  const facts = await addClient(paybell, name)
  const receiver = await startReceiver(owner)
  const caller = new Caller(facts)
  assert.equal((await caller.register(receiver.url(), KEY)).status, 200)
  return { ...facts, receiver, caller }
}

/** Something of everything, to look at. */
async function fillList(): Promise<void> {
  const { receiver, caller } = await addShop('Shown')
  receiver.answer = ({ headers }) =>
    headers['x-paybell-event'] === 'payment.paid' ? 503 : headers['x-paybell-replay'] ? 204 : 200
  for (const left of [3, 2, 1]) {
    const paymentId = await caller.pay({
      ...PLAIN,
      status: { state: 'DRAFT' },
      externalId: `ORDER-${left}`,
    })
    for (const state of ['PENDING_APPROVAL', 'DUE', 'PAID']) {
      const { document: _, version: __, ...plain } = SAMPLE
      await caller.putPayment(paymentId, { ...plain, id: paymentId, status: { state } })
    }
  }
  await receiver.hasSeen(({ received }) => received.length >= 14)
}

const rows = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')

site.test(
  'a callback that gets 500, 500 and 200 is followed as it happens, and explained',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    const { receiver, caller } = await addShop('Followed')
    receiver.answer = (_received, response) => {
      const isRefused = receiver.received.length < 2
      response.writeHead(isRefused ? 500 : 200, { 'content-type': 'text/html' })
      response.end(isRefused ? EVIL : 'ok')
      return undefined
    }
    page.on('dialog', () => assert.fail('what a receiver answered was run'))
    await go('/deliveries')
    await page.getByText('Live: new deliveries appear here.').waitFor()
    const document = {
      mediaType: 'application/pdf',
      name: 'receipt.pdf',
      base64EncodedFile: FILE.toString('base64'),
    }
    await caller.pay({ ...PLAIN, document, externalId: 'FOLLOWED-1' })
    // It appears by itself, and its row leads to it.
    const row = rows(page).filter({ hasText: 'FOLLOWED-1' })
    await row.getByText('DELIVERED').waitFor()
    await row.getByRole('link', { name: 'Followed', exact: true }).waitFor()
    await row.getByText('12,345.67 EUR').waitFor()
    const link = row.getByRole('link', { name: 'created #1' })
    assert.match((await link.getAttribute('href')) ?? '', /^\/console\/deliveries\/[0-9a-f-]{36}$/)
    await link.click()

    await page.getByText('Delivered: the endpoint answered 200 to attempt 3').waitFor()
    await page.getByRole('heading', { name: 'payment.created #1 of FOLLOWED-1' }).waitFor()
    await page.getByText('12,345.67 EUR').waitFor()
    const said = await page.locator('figure svg > title').textContent()
    assert.match(said ?? '', /3 attempts; attempt 1: 500, .* attempt 2: 500, .* attempt 3: 200,/)
    assert.deepEqual(await page.locator('figure .mark-text').allTextContents(), [
      '500',
      '500',
      '200',
    ])
    assert.equal(await page.locator('figure .mark.bad').count(), 2)

    // What the receiver answered is text.
    const excerpts = await page.locator('.excerpt').allTextContents()
    assert.deepEqual(excerpts, ['ok', EVIL, EVIL])
    assert.equal(await page.locator('main img').count(), 0)

    // The document is a file.
    await page.getByText('application/pdf, ').waitFor()
    assert.ok(!(await page.locator('main').innerText()).includes(document.base64EncodedFile))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download receipt.pdf' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'receipt.pdf')
    assert.deepEqual(await buffer(await download.createReadStream()), FILE)

    await checkAccessibility()
    await page.evaluate('window.scrollTo(0, 0)')
    await shoot('delivery')
  },
)

site.test(
  'updates of one payment are folded under the newest, and unfolded by keyboard',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    const { receiver, caller, clientId } = await addShop('Folded')
    const paymentId = await caller.pay({
      ...PLAIN,
      externalId: 'FOLDED-1',
      status: { state: 'DRAFT' },
    })
    for (const state of ['PENDING_APPROVAL', 'DUE']) {
      const { document: _, version: __, ...plain } = SAMPLE
      const changed = { ...plain, id: paymentId, externalId: 'FOLDED-1', status: { state } }
      assert.ok((await caller.putPayment(paymentId, changed)).ok)
    }
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)
    await go(`/deliveries?clientId=${clientId}`)
    await page.getByText('3 shown').waitFor()
    assert.equal(await rows(page).count(), 1)
    await rows(page).getByRole('link', { name: 'due #3' }).waitFor()
    const fold = page.getByRole('button', { name: /^2 earlier.*, updates of payment FOLDED-1$/ })
    assert.equal(await fold.getAttribute('aria-expanded'), 'false')
    await fold.focus()
    await page.keyboard.press('Enter')
    await rows(page).getByRole('link', { name: 'created #1' }).waitFor()
    assert.equal(await rows(page).count(), 3)
    assert.equal(await fold.getAttribute('aria-expanded'), 'true')
    await checkAccessibility()
    await page.keyboard.press('Space')
    await rows(page).nth(1).waitFor({ state: 'detached' })

    // Who asks for one payment gets all of it.
    await go(`/deliveries?paymentId=${paymentId}`)
    await rows(page).nth(2).waitFor()
    assert.equal(await fold.count(), 0)
  },
)

site.test(
  'an operator verifies what a receiver saw, and takes the request along as a command',
  { as: 'operator' },
  async ({ page, go }) => {
    const { receiver, caller } = await addShop('Verified')
    const { id } = await deliveryOf(await caller.pay(PLAIN), 'DELIVERED')
    const [received] = receiver.received
    assert.ok(received)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await go(`/deliveries/${id}`)
    const verify = async (signature: string, body: string) => {
      await page.getByLabel('Signature as received').fill(signature)
      await page.getByLabel('Body as received').fill(body)
      await page.getByRole('button', { name: 'Verify' }).click()
    }
    const body = received.body.toString()
    await verify(String(received.headers['x-paybell-hmac']), body)
    await page.getByText('That is the X-Paybell-Hmac that was sent.').waitFor()
    await page.getByText('byte for byte').waitFor()
    await verify(
      Buffer.from(String(received.headers['x-paybell-hmac']), 'hex').toString('base64'),
      JSON.stringify(JSON.parse(body), null, 2),
    )
    await page.getByText('Right, but in base64').waitFor()
    await page.getByText('it was parsed and written again').waitFor()

    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied the request').waitFor()
    const command = await page.evaluate('navigator.clipboard.readText()')
    assert.ok(String(command).includes(`'X-Paybell-Hmac: ${received.headers['x-paybell-hmac']}'`))
    assert.ok(String(command).endsWith(`--data-binary '${body}'`))

    // One replay, the same bytes, and a second run on the curve.
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    assert.deepEqual(receiver.received[1]?.body, received.body)
    await page.getByRole('button', { name: 'Replay 1' }).waitFor()
  },
)

site.test(
  'all that match a filter are replayed, then cancelled, after a number and a question',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    const { receiver, caller, clientId } = await addShop('In bulk')
    const numbers = Array.from({ length: 55 }, (_, index) => index + 1)
    await Promise.all(numbers.map((n) => caller.pay({ ...PLAIN, externalId: `BULK-${n}` })))
    await until('all of them delivered', async () => {
      const path = `/deliveries?clientId=${clientId}&state=DELIVERED&limit=200`
      return (await operator<{ items: Item[] }>(path)).items.length === 55
    })

    // Page by page, by real links.
    await go(`/deliveries?clientId=${clientId}`)
    await page.getByText('50 shown').waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('5 shown, end of list').waitFor()
    assert.match(page.url(), /after=/)
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.getByText('50 shown').waitFor()

    // Filters go into the address.
    await page.getByRole('button', { name: 'DELIVERED' }).click()
    await page.waitForURL(/state=DELIVERED/)
    await page.getByLabel('Kind').selectOption('payment.created')
    await page.waitForURL(/event=payment\.created/)
    await page.getByLabel('Search').fill('BULK-7')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('1 shown, end of list').waitFor()
    await page.getByRole('link', { name: 'Remove the filter Search' }).click()
    await page.getByText('50 shown').waitFor()
    await checkAccessibility()

    receiver.answer = 503
    await page.getByRole('button', { name: 'Replay all that match…' }).click()
    await page.getByRole('dialog').getByText('Accepted ones too').waitFor()
    // Not at the first endpoint of the table.
    await page.locator('dialog button:focus', { hasText: 'Cancel' }).waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Replay 55 deliveries' }).click()
    await page.getByText('55 of 55').waitFor()
    await receiver.hasSeen(({ received }) =>
      received.some(({ headers }) => headers['x-paybell-replay'] === 'true'),
    )

    // Now they are pending; those are cancelled.
    await go(`/deliveries?clientId=${clientId}&state=PENDING`)
    await page.getByText('50 shown').waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('Paused: the list does not change.').waitFor()
    await page.getByRole('button', { name: 'Cancel all that match…' }).click()
    await page.getByRole('button', { name: 'Cancel 55 deliveries' }).click()
    await page.getByText('55 of 55').waitFor()
    await page.getByText('No delivery matches this filter').waitFor()
    const { items } = await operator<{ items: Item[] }>(
      `/deliveries?clientId=${clientId}&state=CANCELLED&limit=200`,
    )
    assert.equal(items.length, 55)

    if (process.env.PAYBELL_SCREENSHOTS !== '1') return
    await fillList()
    await go('/deliveries')
    await page.getByText('Live: new deliveries appear here.').waitFor()
    await rows(page).first().waitFor()
    await shoot('deliveries')
  },
)

site.test(
  'a client sees its own deliveries, asks the signature doctor, and sees no other client’s',
  { allowedErrors: [/404/] },
  async ({ page, go, signIn, checkAccessibility }) => {
    const shop = await addShop('Its own')
    const other = await addShop('Another')
    shop.receiver.answer = (_received, response) => {
      response.end('thank you, booked')
      return undefined
    }
    const { id } = await deliveryOf(await shop.caller.pay(PLAIN), 'DELIVERED')
    const foreign = await deliveryOf(await other.caller.pay(PLAIN), 'DELIVERED')
    await signIn({ clientId: shop.clientId, clientSecret: shop.clientSecret })

    await go('/deliveries')
    await page.getByText('1 shown, end of list').waitFor()
    assert.equal(await page.getByRole('button', { name: /all that match/ }).count(), 0)
    await page.getByLabel('Payment').fill('EXT-2026-000123')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.waitForURL(/externalId=EXT-2026-000123/)
    await page.getByLabel('Answer').selectOption('5xx')
    await page.getByText('No delivery matches this filter').waitFor()
    await page.getByRole('link', { name: 'Remove the filter Answer' }).click()
    await page.getByText('1 shown, end of list').waitFor()
    await rows(page).getByRole('link').first().click()
    await page.waitForURL(`**/deliveries/${id}`)
    await page.getByText('Delivered: your endpoint answered 200').waitFor()
    await page.getByText('"EXT-2026-000123"').waitFor()

    // What its receiver answered, and the request with its signatures to send again.
    assert.deepEqual(await page.locator('.excerpt').allTextContents(), ['thank you, booked'])
    const [received] = shop.receiver.received
    assert.ok(received)
    const hmac = String(received.headers['x-paybell-hmac'])
    await page.getByRole('table', { name: 'Headers' }).getByText(hmac).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied the request').waitFor()
    const command = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.ok(command.includes(`'X-Paybell-Hmac: ${hmac}'`))
    assert.ok(command.endsWith(`--data-binary '${received.body}'`))
    const headers = Object.entries(received.headers).map(([name, value]) => `${name}: ${value}`)
    await page.getByLabel('Headers as received').fill(headers.join('\n'))
    await page.getByLabel('Body as received').fill(received.body.toString())
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The signature is valid').waitFor()
    await page.getByLabel('Body as received').fill(`${received.body}\n`)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The signature is not valid').waitFor()
    await page.getByText('trailing-newline').waitFor()
    await checkAccessibility()

    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await shop.receiver.hasSeen(({ accepted }) => accepted.length === 2)

    // regression: the doctor of a listener is at its own door.
    const made = await shop.caller.call('POST', '/v1/listeners', { name: 'laptop', sharedKey: KEY })
    assert.ok(made.ok)
    const { id: endpointId } = (await made.json()) as { id: string }
    const heard = await shop.caller.pay(PLAIN)
    const { items } = await operator<{ items: Item[] }>(
      `/deliveries?paymentId=${heard}&endpointId=${endpointId}`,
    )
    await go(`/deliveries/${items[0]?.id}`)
    await page.getByLabel('Headers as received').fill(`X-Paybell-Hmac: ${hmac}`)
    await page.getByLabel('Body as received').fill('{}')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The signature is not valid').waitFor()

    await go(`/deliveries/${foreign.id}`)
    await page.getByRole('alert').getByText('not-found').waitFor()
    assert.ok(!(await page.locator('main').innerText()).includes(other.receiver.url()))
    await go(`/deliveries?endpointId=${foreign.endpointId}`)
    await page.getByText('No delivery matches this filter').waitFor()
  },
)
