// Payments, endpoints, clients, the audit and the playground in the browser: what an operator does on a
// day when all is well, and on one when it is not; and what a client does about its own endpoints.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { Caller } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkNarrow, openSite, openTab } from './support.ts'

const KEY = 'a-shared-key-of-the-tests'
const EXACT = '9007199254740993.10'
const FILE = Buffer.from('%PDF-1.7 a receipt, or so it says')

// The waits of 5, 10, 20 s become 5, 10, 20 ms.
const site = await openSite({ after }, { env: { PAYBELL_TIME_SCALE: '1000' } })
const { paybell } = site
const owner = { after }

async function operator<T>(path: string): Promise<T> {
  const answer = await fetch(paybell.baseUrl + path, {
    headers: { authorization: `Bearer ${paybell.operatorKey}` },
  })
  assert.equal(answer.status, 200)
  return (await answer.json()) as T
}

/** Another client with a webhook at a receiver of this very sandbox. */
async function addShop(name: string, receiver: string) {
  const facts = await addClient(paybell, name)
  const caller = new Caller(facts)
  const url = `${paybell.baseUrl}/sandbox/receiver/${receiver}`
  assert.equal((await caller.register(url, KEY)).status, 200)
  const { content } = await operator<{ content: { id: string }[] }>(
    `/operator/v1/endpoints?clientId=${facts.clientId}`,
  )
  return { ...facts, caller, endpointId: content[0]?.id ?? '' }
}

async function pay(caller: Caller, states: readonly string[], externalId = 'ORDER-1') {
  const id = randomUUID()
  for (const state of states) {
    await caller.update(id, { document: undefined, externalId, status: { state } })
  }
  return id
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

site.test(
  'a client is onboarded, its secret is shown once, and it can be rotated and disabled',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    await go('/clients')
    await button(page, 'Onboard a client').click()
    await page.getByLabel('Name of the client').fill('Northwind Traders')
    // regression: a form that is being sent cannot be left, because its answer holds the secret.
    const held = Promise.withResolvers<void>()
    await page.route('**/operator/v1/clients', async (route) => {
      if (route.request().method() === 'POST') await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Onboard', exact: true }).click()
    await until('it is being sent', () => button(page, 'Cancel').isDisabled())
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await button(page, 'Cancel').waitFor()
    held.resolve()
    const secret = await page.getByTestId('client-secret').innerText()
    assert.match(secret, /^pbs_/)
    const block = await page.getByRole('dialog').locator('pre').innerText()
    const clientId = /PAYBELL_CLIENT_ID=(\S+)/.exec(block)?.[1] ?? ''
    assert.match(block, /PAYBELL_ACCOUNT_ID=\S+/)
    await checkAccessibility()
    // Escape does not lose it, however often: a browser lets a page prevent only the first of two in a row.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByTestId('client-secret').waitFor()
    await button(page, 'I have saved it').click()
    await page.getByRole('link', { name: 'Northwind Traders' }).waitFor()
    assert.equal(await page.getByTestId('client-secret').count(), 0)
    await checkAccessibility()
    await shoot('clients')
    await checkNarrow(page)

    const signsIn = await fetch(`${paybell.baseUrl}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ clientId, clientSecret: secret }),
    })
    assert.equal(signsIn.status, 200, 'what was shown works')

    await page.getByRole('link', { name: 'Northwind Traders' }).click()
    await page.getByLabel('Name of a new account').fill('<b>Savings</b>')
    await button(page, 'Create account').click()
    await page.getByRole('table', { name: 'Accounts' }).getByText('<b>Savings</b>').waitFor()
    await button(page, 'Issue a secret').click()
    assert.notEqual(await page.getByTestId('client-secret').innerText(), secret)
    await button(page, 'I have saved it').click()
    await button(page, 'Revoke').nth(1).waitFor()
    assert.ok(await button(page, 'Issue a secret').isDisabled(), 'two may live at once')
    // What opened the dialog is disabled now, and then gone: the focus stays near.
    const heading = page.locator('h2:focus', { hasText: 'Secrets' })
    await heading.waitFor()
    await button(page, 'Revoke').first().click()
    await button(page, 'Revoke the secret').click()
    await button(page, 'Revoke').nth(1).waitFor({ state: 'detached' })
    await heading.waitFor()
    await button(page, 'Disable').click()
    await button(page, 'Disable the client').click()
    await page.getByRole('main').getByText('DISABLED').waitFor()
    await button(page, 'Enable').waitFor()
    await checkAccessibility()
    await checkNarrow(page)
  },
)

site.test(
  'a payment of the playground fails twice, arrives, and walks to PAID',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    await go('/playground')
    await button(page, 'Set it up').click()
    await button(page, /^500, 500, 200/).click()
    await page.locator('.preset[aria-pressed=true]', { hasText: '500, 500, 200' }).waitFor()
    await page.getByLabel('Amount').fill(EXACT)
    await page
      .getByLabel('Document', { exact: true })
      .setInputFiles({ name: 'receipt.pdf', mimeType: 'application/pdf', buffer: FILE })
    await page.getByText('goes with the next write').waitFor()
    await button(page, 'Create it as DRAFT').click()
    const attempts = page.getByRole('list', { name: 'Attempts of event 1' }).getByRole('listitem')
    const wanted = 'Attempt 1: 500, Attempt 2: 500, Attempt 3: 200'
    await until('the first event came through', async () => {
      return (await attempts.allTextContents()).join(', ') === wanted
    })
    await button(page, 'Make it PENDING APPROVAL').click()
    await button(page, 'Make it DUE').click()
    await button(page, 'Make it PAID').click()
    await page.locator('[aria-current=step]', { hasText: 'PAID' }).waitFor()
    const travel = page.locator('.travel > li')
    await until('all four events are delivered', async () => {
      const texts = await travel.allInnerTexts()
      return texts.length === 4 && texts.every((text) => text.includes('DELIVERED'))
    })
    assert.equal(await button(page, 'Walk it to PAID').count(), 0, 'there is nowhere left to go')
    const got = page.getByRole('table', { name: 'What the receiver got' })
    const signed = got.getByText('valid', { exact: true })
    await until('six callbacks, all signed', async () => (await signed.count()) === 6)
    await checkAccessibility()
    await shoot('playground')
    await checkNarrow(page)

    const paymentId = new URL(page.url()).searchParams.get('payment') ?? ''
    const sent = await fetch(`${paybell.baseUrl}/sandbox/receiver/playground`, {
      headers: { authorization: `Bearer ${paybell.operatorKey}` },
    }).then((answer) => answer.text())
    assert.ok(sent.includes(EXACT), 'every digit of the amount arrived')
    assert.ok(sent.includes(FILE.toString('base64')), 'and the document, with each of the writes')

    // After a reload it goes on with the same payment, document and all.
    await page.reload()
    await page.getByText('receipt.pdf is attached').waitFor()
    assert.equal(await page.getByLabel('Amount').inputValue(), EXACT)
    await page.getByLabel('Reference', { exact: true }).fill('Invoice 43')
    await button(page, 'Save the fields').click()
    await page.getByText('5. payment.updated').waitFor()
    const { document } = await operator<{ document?: object }>(`/operator/v1/payments/${paymentId}`)
    assert.deepEqual(document, { mediaType: 'application/pdf', name: 'receipt.pdf' })
  },
)

site.test('the playground says how fast time runs', { as: 'operator' }, async ({ page, go }) => {
  await addShop('Clockwork', 'clockwork')
  await go('/playground')
  await page.getByText('7 days pass in 10 min').waitFor()
  await page.getByText('Time runs 1000× faster').waitFor()
})

site.test(
  'payments are found by filters in the address, and each shows its delivery status',
  { as: 'operator' },
  async ({ page, go, checkAccessibility, shoot }) => {
    const shop = await addShop('Lanes', 'lanes')
    const second = await startReceiver(owner)
    second.answer = 503
    await shop.caller.register(second.url(), KEY)
    const id = await pay(shop.caller, ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID'], 'LANES-1')
    const cancelled = await pay(shop.caller, ['DRAFT', 'CANCELLED'], 'LANES-2')

    await go(`/payments?clientId=${shop.clientId}`)
    await page.getByRole('link', { name: 'LANES-2' }).waitFor()
    await checkAccessibility()
    await checkNarrow(page)
    await page.getByLabel('State').selectOption('CANCELLED')
    await page.getByRole('link', { name: 'LANES-1' }).waitFor({ state: 'detached' })
    assert.match(page.url(), /state=CANCELLED/)
    await button(page, 'Clear filters').click()
    await page.getByLabel('Payment id or external id').fill('LANES-1')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'LANES-2' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'LANES-1' }).click()

    await page.locator('[aria-current=step]', { hasText: 'PAID' }).waitFor()
    const well = page.getByRole('region', { name: /receiver\/lanes/ }).getByRole('listitem')
    await until('the one lane is through', async () => {
      const texts = await well.allInnerTexts()
      return texts.length === 4 && texts.every((text) => text.includes('DELIVERED'))
    })
    const ill = page.getByRole('region', { name: `Deliveries to ${second.url()}` })
    await until('the other lane is not', async () => {
      const stops = await ill.getByRole('listitem').allInnerTexts()
      const [first = ''] = stops
      return stops.every((text) => text.includes('PENDING')) && first.includes('answered 503')
    })
    assert.match(page.url(), new RegExp(id))
    await checkAccessibility()
    await shoot('payment')
    await checkNarrow(page)
    second.answer = 200

    // One that was cancelled has the states that it was in, and no others.
    await go(`/payments/${cancelled}`)
    await page.locator('[aria-current=step]', { hasText: 'CANCELLED' }).waitFor()
    const states = page.getByRole('list', { name: 'States of the payment' }).getByRole('listitem')
    await until('the events are read', async () =>
      (await states.first().innerText()).includes('event 1'),
    )
    assert.equal(await states.count(), 2)
  },
)

site.test(
  'a paused endpoint keeps what it is owed until it is resumed, and what it missed is recovered',
  { as: 'operator' },
  async ({ page, go }) => {
    const shop = await addShop('Patient', 'patient')
    await go(`/endpoints/${shop.endpointId}`)
    await button(page, 'Pause').click()
    await page.getByRole('status').getByText('Nothing is sent and nothing is lost').waitFor()
    await openTab(page, 'Deliveries')
    await pay(shop.caller, ['DUE'])
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByText('PENDING').waitFor()
    await button(page, 'Resume').click()
    await deliveries.getByText('DELIVERED').waitFor()

    await openTab(page, 'Recover')
    await button(page, 'Preview').click()
    await page.getByText('Nothing to recover').waitFor()
    await page.getByLabel('With state').selectOption({ index: 2 })
    await button(page, 'Preview').click()
    await page.getByText('1 will be sent again').waitFor()
    await button(page, 'Send 1 again').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 1 again' }).click()
    await page.getByText('1 queued to be sent again').waitFor()
    await openTab(page, 'Overview')
    await page.getByText('2 requests received').waitFor()
  },
)

site.test(
  'a client tries its own endpoint out, checks its receiver and rotates its key',
  // The address that is refused.
  { as: 'client', allowedErrors: [/400 \(Bad Request\).*register/] },
  async ({ page, go, checkAccessibility }) => {
    const receiver = await startReceiver(owner)
    await go('/endpoints')
    await button(page, 'Register an endpoint').click()
    await page.getByLabel('Address').fill('http://example.com/plain')
    await button(page, 'Generate').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Register' }).click()
    await page.getByText('Use https://').waitFor()
    await page.getByLabel('Address').fill(receiver.url())
    await page.getByRole('dialog').getByRole('button', { name: 'Register' }).click()
    await page.getByRole('link', { name: receiver.url() }).click()

    await button(page, 'Send a test').click()
    await page.getByText(/200 after/).waitFor()
    receiver.answer = 204
    await button(page, 'Send a test').click()
    await page.getByText(/It answered 204/).waitFor()
    receiver.answer = 200
    await button(page, 'Run the receiver check').click()
    const report = page.getByText(/\d+ of \d+ checks failed/)
    await report.waitFor()
    await checkAccessibility()

    await openTab(page, 'Settings')
    await button(page, 'Change').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('payment.updated').uncheck()
    await dialog.getByLabel('Documents').selectOption('link')
    await dialog.getByLabel('Description').fill('Ledger of the south')
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('as a link to fetch').waitFor()
    await page.getByText('Ledger of the south').waitFor()
    await page.getByText(/payment\.paid, payment\.cancelled$/).waitFor()

    await button(page, 'Rotate the key').click()
    await page.getByRole('textbox', { name: 'Shared key' }).fill('another-key-of-the-tests')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the key' }).click()
    await page.getByText('The new key signs from now on').waitFor()
    // The way back is the browser's, and what was found is still there.
    await page.goBack()
    await report.waitFor()
    await button(page, 'Send a test').click()
    await until('both keys sign', () =>
      receiver.received.some(({ headers }) => 'x-paybell-hmac-previous' in headers),
    )
    const paymentId = await pay(paybell.caller, ['DRAFT', 'DUE'])
    await go('/payments')
    await page.getByRole('table').getByRole('link').first().click()
    await page.locator('[aria-current=step]', { hasText: 'DUE' }).waitFor()
    assert.ok(page.url().endsWith(paymentId))
    await checkAccessibility()
  },
)

site.test(
  'the audit shows its seal, an operator verifies it, and an auditor sees nothing else',
  { as: 'operator' },
  async ({ page, go, signIn, checkAccessibility }) => {
    const { deps } = paybell.app
    const { key } = await createOperatorKey(deps, { name: 'ada', role: 'auditor' })
    await pay(paybell.caller, ['DRAFT'])
    await until('something is sealed', async () => {
      await sealAudit(deps, { everyMsMin: 0 })
      const { rowCount } = await paybell.pool.query('select from audit_segments')
      return (rowCount ?? 0) > 0
    })
    await go('/audit')
    const seal = page.getByRole('region', { name: 'Seal' })
    await seal.getByText('never').waitFor()
    await button(page, 'Verify').click()
    await seal.getByText('All as it was sealed').waitFor()
    await seal.getByText(/segments 1 to \d+/).waitFor()
    await checkAccessibility()

    await signIn({ operatorKey: key })
    await page.goto(`${paybell.baseUrl}/console/`)
    await page.getByText('Signed in as ada').waitFor()
    await page.getByRole('table', { name: 'Audit' }).waitFor()
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').count(), 1)
    assert.equal(await button(page, 'Verify').count(), 0)

    // regression: an auditor's reads are audited, so coming back to the page reads nothing but who is signed in. What was
    // read a second ago counts as fresh: at the second answer everything on the page is older.
    const reads: string[] = []
    page.on('request', (request) => reads.push(new URL(request.url()).pathname))
    await until('the session is read again, twice', async () => {
      await page.evaluate(`for (const name of ['offline', 'online', 'visibilitychange'])
        window.dispatchEvent(new Event(name))`)
      return reads.filter((path) => path === '/console/session').length > 1
    })
    assert.deepEqual([...new Set(reads)], ['/console/session'])
  },
)

site.test(
  'an operator makes a key for a viewer, who can only look; the audit tells what was changed',
  { as: 'operator', allowedErrors: [/401/] },
  async ({ page, go, signIn, checkAccessibility, shoot }) => {
    await go('/keys')
    await button(page, 'Create a key').click()
    await page.getByLabel('Name').fill('onlooker')
    await page.getByLabel('Role').selectOption('viewer')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const key = await page.getByTestId('operator-key').innerText()
    await checkAccessibility()
    // Escape does not lose it.
    await page.keyboard.press('Escape')
    await button(page, 'I have saved it').click()
    const row = page.getByRole('table', { name: 'Operator keys' }).getByRole('row', {
      name: /onlooker/,
    })
    await row.getByText('viewer').waitFor()
    assert.ok(!(await page.content()).includes(key), 'it is shown once')
    await checkAccessibility()
    await shoot('keys')
    await checkNarrow(page)

    await go('/audit')
    const rows = page.getByRole('table', { name: 'Audit' }).locator('tbody tr')
    await rows.first().waitFor()
    assert.equal(await rows.filter({ hasText: 'payment.put' }).count(), 0)
    assert.match(
      await rows.filter({ hasText: 'key.create' }).first().innerText(),
      /role\s+viewer/,
      'what was changed',
    )
    await checkAccessibility()
    await shoot('audit')
    await checkNarrow(page)
    await page.getByLabel('Payment writes').selectOption('true')
    await rows.filter({ hasText: 'payment.put' }).first().waitFor()
    await page.getByLabel('Action').selectOption('endpoint.pause')
    await until('one row is left', async () => (await rows.count()) === 1)
    assert.match(page.url(), /action=endpoint.pause/)
    assert.match(await rows.first().innerText(), /status\s+from\s+ACTIVE[\s→]+to\s+PAUSED/)
    await rows.first().getByRole('link').click()
    await button(page, 'Pause').waitFor()

    await signIn({ operatorKey: key })
    await page.reload()
    await page.getByText('Signed in as onlooker').waitFor()
    await page.getByRole('region', { name: 'Attempts by the hour' }).waitFor()
    assert.equal(await button(page, /Pause|Break/).count(), 0)
    await openTab(page, 'Settings')
    await page.getByRole('region', { name: 'What it gets' }).waitFor()
    assert.equal(await button(page, 'Change').count(), 0)
    await openTab(page, 'Recover')
    await button(page, 'Check that nothing is missing').waitFor()
    assert.equal(await button(page, 'Preview').count(), 0)
    await go('/playground')
    await page.getByText('Making payments needs a key with the role admin').waitFor()
    await go('/keys')
    await row.waitFor()
    assert.equal(await page.getByRole('main').getByRole('button').count(), 0)

    // Revoked, it ends the session that it opened.
    await signIn('operator')
    await page.reload()
    await row.getByRole('button', { name: 'Revoke' }).click()
    await button(page, 'Revoke the key').click()
    await row.getByText('REVOKED').waitFor()
  },
)

site.test(
  'regression: a client’s endpoints are read a list at a time with their health, failing ones first, listeners by their name',
  { as: 'client' },
  async ({ page, go }) => {
    const { caller } = paybell
    const registered: string[] = []
    for (const name of ['works', 'fails']) {
      registered.push(await caller.addWebhook(`https://example.com/${name}`, KEY))
    }
    await caller.call('POST', '/v1/listeners', { name: 'till-one', sharedKey: KEY })
    await paybell.pool.query(
      `insert into endpoint_health (client_key, endpoint_id, failing_since, last_error, circuit)
       select client_key, id, '2026-01-01', 'timeout', 'CLOSED' from endpoints where id = $1`,
      [registered[1]],
    )
    const read: string[] = []
    page.on('request', (request) => read.push(new URL(request.url()).pathname))
    await go('/endpoints')
    await page.getByRole('link', { name: 'listener:till-one' }).waitFor()
    const first = page.getByRole('table', { name: 'Webhooks' }).getByRole('row').nth(1)
    await first.getByText('https://example.com/fails').waitFor()
    await first.getByText('timed out').waitFor()
    const ofOne = read.filter((path) => registered.some((id) => path.endsWith(`/${id}`)))
    assert.deepEqual(ofOne, [])
  },
)
