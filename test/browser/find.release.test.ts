// Finding things in the browser by the names that people know, from any page, and in lists as each of them wants them: by
// keyboard alone.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { openSite } from './support.ts'

const site = await openSite({ after })
const { paybell } = site

const receiver = await startReceiver({ after })
const shop = await addClient(paybell, 'Fabrikam Woodworks')
const caller = new Caller(shop)
const url = receiver.url('/hooks/of-the-workshop/in-the-old-town')
assert.equal((await caller.register(url, 'a-shared-key-of-the-tests')).status, 200)
const paymentId = randomUUID()
const { document: _, version: __, ...plain } = SAMPLE
const written = await caller.putPayment(paymentId, {
  ...plain,
  id: paymentId,
  externalId: 'CHAIR-77',
})
assert.equal(written.status, 201)
await receiver.hasSeen(({ accepted }) => accepted.length === 1)

/** How much of the table lies beyond its edge. */
const cutOff = (page: Page) =>
  page.evaluate<number>(
    `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-scroll'))`,
  )
/** Whether the first address in a table has its middle left out. */
const isAddressCut = (page: Page) =>
  page.evaluate<boolean>(
    `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.address > [aria-hidden]'))`,
  )
const box = (page: Page) => page.getByRole('combobox', { name: /Any id/ })

site.test(
  'a client finds its payment by the external id, from any page and by keyboard alone',
  { as: { clientId: shop.clientId, clientSecret: shop.clientSecret } },
  async ({ page, go, checkAccessibility }) => {
    await go('/endpoints')
    await page.keyboard.press('/')
    await box(page).waitFor()
    await page.keyboard.type('CHAIR-77')
    await page.getByRole('option', { name: /payment CHAIR-77/, selected: true }).waitFor()
    await checkAccessibility()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/payments/${paymentId}`)
    await page.getByRole('heading', { name: 'Payment CHAIR-77' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
  },
)

site.test(
  'a client lists its payments by external id, amount and the worst state of their deliveries',
  { as: { clientId: shop.clientId, clientSecret: shop.clientSecret } },
  async ({ page, go, checkAccessibility }) => {
    await go('/payments')
    const row = page.getByRole('table', { name: 'Payments' }).locator('tbody tr')
    await row.getByText('DELIVERED').waitFor()
    assert.equal(SAMPLE.amount.amount, 12_345.67)
    assert.match(await row.innerText(), /12,345\.67 EUR/)
    await checkAccessibility()
    await page.getByLabel('External id').fill('CHAIR-7')
    await page.keyboard.press('Enter')
    await page.getByText('No payment matches this filter').waitFor()
    await page.getByLabel('External id').fill('CHAIR-77')
    await page.keyboard.press('Enter')
    await row.getByRole('link', { name: 'CHAIR-77' }).click()
    await page.waitForURL(`**/payments/${paymentId}`)
  },
)

site.test(
  'a list of deliveries has names in place of ids, and addresses cut in the middle where there is no room',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    await go('/deliveries')
    const row = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')
    await row.getByRole('link', { name: 'CHAIR-77', exact: true }).waitFor()
    await row.getByRole('link', { name: 'Fabrikam Woodworks', exact: true }).waitFor()
    await row.getByRole('link', { name: url.replace('http://', ''), exact: true }).waitFor()
    assert.equal(await isAddressCut(page), true, 'there is no room for it')
    assert.equal(await cutOff(page), 0, 'all columns are in sight')
    await checkAccessibility()

    // Filters are found by name, with the pointer or by keyboard, and show the name.
    await page.getByRole('combobox', { name: 'Client' }).fill('woodw')
    await page.getByRole('option', { name: 'Fabrikam Woodworks' }).click()
    await page.waitForURL(`**/deliveries?clientId=${shop.clientId}`)
    const chips = page.getByRole('list', { name: 'Filters that are set' })
    await chips.getByText('Fabrikam Woodworks').waitFor()
    await page.getByRole('combobox', { name: 'Endpoint' }).fill('of-the-workshop')
    await page.getByRole('option', { name: url, selected: true }).waitFor()
    await checkAccessibility()
    await page.keyboard.press('Enter')
    await page.waitForURL(/endpointId=/)
    await row.getByRole('link', { name: 'CHAIR-77', exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Client' }).fill('')
    await page.getByRole('combobox', { name: 'Endpoint' }).focus()
    await page.waitForURL((address) => !address.searchParams.has('clientId'))

    // regression: Enter before the answer takes what that brings, not the first of what was listed before.
    const { clientId } = await addClient(paybell, 'Zebra Crossings')
    await page.getByRole('combobox', { name: 'Client' }).click()
    await page.getByRole('option', { name: 'Fabrikam Woodworks' }).waitFor()
    await page.keyboard.type('zebra')
    await page.keyboard.press('Enter')
    await page.waitForURL(/clientId=/)
    assert.equal(new URL(page.url()).searchParams.get('clientId'), clientId)
  },
)

site.test(
  'clients are found by name and sorted, endpoints are found by address',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    await addClient(paybell, 'Aardvark Antiques')
    await go('/clients')
    const names = page.getByRole('table', { name: 'Clients' }).locator('tbody tr a')
    await names.nth(2).waitFor()
    await page.getByRole('button', { name: 'Client', exact: true }).click()
    await page.waitForURL(/sort=name/)
    await until('by name', async () => (await names.first().innerText()) === 'Aardvark Antiques')
    await page.getByRole('button', { name: 'Client', exact: true }).click()
    await until(
      'the other way round',
      async () => (await names.last().innerText()) === 'Aardvark Antiques',
    )
    await page.getByRole('columnheader', { name: 'Client', exact: true }).waitFor()
    await checkAccessibility()
    await page.getByLabel('Name').fill('woodw')
    await until('one is left', async () => (await names.count()) === 1)
    assert.match(page.url(), /q=woodw/)
    await page.getByLabel('Name').fill('no-such-client')
    await page.getByText('No client matches this search').waitFor()

    await go('/endpoints')
    await page.getByRole('button', { name: 'Health', exact: true }).click()
    await page.waitForURL(/sort=failingSince/)
    await page.getByRole('columnheader', { name: 'Health', exact: true }).waitFor()
    assert.equal(await cutOff(page), 0, 'all columns are in sight')
    await page.getByLabel('Address').fill('old-town')
    await page.waitForURL(/q=old-town/)
    await page
      .getByRole('table', { name: 'Endpoints' })
      .getByRole('link', { name: url.replace('http://', ''), exact: true })
      .waitFor()
    await page.setViewportSize({ width: 2400, height: 860 })
    await until('all of it is shown where there is room', async () => !(await isAddressCut(page)))
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.getByLabel('Address').fill('new-town')
    await page.getByText('No endpoint matches this filter').waitFor()
  },
)

site.test(
  'an operator finds a client by its name and an endpoint by its address',
  { as: 'operator' },
  async ({ page, go, checkAccessibility }) => {
    await go('/audit')
    await page.keyboard.press('Control+k')
    await box(page).fill('woodw')
    await page.getByRole('option', { name: /client Fabrikam Woodworks/ }).click()
    await page.waitForURL(`**/clients/${shop.clientId}`)

    // A whole address, and Enter before there is an answer.
    await page.getByRole('button', { name: 'Find anything' }).click()
    await box(page).fill(url)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/endpoints/*')
    await page.getByRole('heading', { level: 1, name: url }).waitFor()

    await page.keyboard.press('/')
    await box(page).fill('nothing-is-called-this')
    await page.getByText('Nothing found.').waitFor()
    await checkAccessibility()
    await page.keyboard.press('Escape')
    await box(page).waitFor({ state: 'detached' })
  },
)

site.test(
  'a slash in a field is a slash, and the arrows choose among several',
  { as: 'operator', width: 380 },
  async ({ page, go }) => {
    await go('/settings')
    await page.getByLabel('Find').press('/')
    assert.equal(await page.getByLabel('Find').inputValue(), '/')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('button', { name: 'Find anything' }).click()
    await box(page).fill('workshop fabrikam')
    await page.getByText('Nothing found.').waitFor()
    await addClient(paybell, 'Fabrikam Paints')
    await box(page).fill('fabrikam')
    await page
      .getByRole('option', { name: /client Fabrikam/ })
      .nth(1)
      .waitFor()
    const options = await page.getByRole('option').allInnerTexts()
    await page.keyboard.press('ArrowDown')
    await until('the second is chosen', async () => {
      const chosen = await page.getByRole('option', { selected: true }).innerText()
      return chosen === options[1]
    })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/clients/*')
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(width) <= 380, `the page is ${width} px wide`)
  },
)

site.test(
  'a filter is saved under a name and columns are chosen, for the one who is signed in',
  { as: 'operator' },
  async ({ page, go, signIn, checkAccessibility }) => {
    const table = page.getByRole('table', { name: 'Deliveries' })
    const saved = page.getByRole('list', { name: 'Saved filters' })
    const button = (name: string | RegExp) => page.getByRole('button', { name })
    await go('/deliveries')
    await table.waitFor()
    assert.equal(await button(/all that match/).count(), 0, 'nothing in bulk without a filter')
    await go('/deliveries?state=DELIVERED')
    await button('Retry all that match…').waitFor()

    await button('Save this filter…').press('Enter')
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await page.keyboard.type('Arrived')
    await checkAccessibility()
    await page.keyboard.press('Enter')
    await saved.waitFor()
    await page.getByRole('link', { name: 'Clear all' }).click()
    await page.waitForURL('**/deliveries')
    await saved.getByRole('link', { name: 'Arrived' }).click()
    await page.waitForURL('**/deliveries?state=DELIVERED')
    assert.equal(await button('Save this filter…').count(), 0)

    await button('Columns…').press('Enter')
    await page.getByRole('dialog').getByLabel('Next').uncheck()
    await checkAccessibility()
    await page.keyboard.press('Escape')
    await button('Columns (1 hidden)…').waitFor()
    await page.reload()
    await table.waitFor()
    assert.deepEqual(
      await table.getByRole('columnheader').allTextContents(),
      ['Event', 'State', 'Payment', 'Endpoint', 'Client', 'Attempts', 'Created'],
      'the browser keeps the choice',
    )

    await signIn({ clientId: shop.clientId, clientSecret: shop.clientSecret })
    await go('/deliveries')
    await table.getByRole('columnheader', { name: 'Next' }).waitFor()
    assert.equal(await saved.count(), 0, 'another person has none')

    await signIn('operator')
    await go('/deliveries')
    await saved.getByRole('button', { name: 'Delete the saved filter Arrived' }).click()
    await saved.waitFor({ state: 'detached' })
  },
)
