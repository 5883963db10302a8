// Signing in to the console: who gets in, as whom, and who does not.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { createSignInLink } from '../../server/operations/access/console-session.ts'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { revokeOperatorKey } from '../../server/operations/access/revoke-operator-key.ts'
import { openSite } from './support.ts'

const site = await openSite({ after })
const { paybell } = site
/** The live stream is cut off some seconds after its session has ended; a slow browser still has it open then. */
const REFUSED = [/401/, /ERR_INCOMPLETE_CHUNKED_ENCODING .*\/stream/]

// Made before the service has read its keys, because it then caches them for a moment.
const { deps } = paybell.app
const leaving = await createOperatorKey(deps, { name: 'leaving', role: 'viewer' })
const core = await createOperatorKey(deps, { name: 'core', role: 'ingest' })

site.test(
  'an operator signs in with its key, and out again',
  {},
  async ({ page, go, checkAccessibility }) => {
    await go('/')
    await page.getByLabel('Operator key').fill(paybell.operatorKey)
    await checkAccessibility()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('Signed in as operator').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Operator key').waitFor()
    await page.reload()
    await page.getByLabel('Operator key').waitFor()
  },
)

site.test('a client signs in with its credentials', {}, async ({ page, go }) => {
  await go('/')
  await page.getByRole('button', { name: 'Client', exact: true }).click()
  await page.getByLabel('Client id').fill(paybell.clientId)
  await page.getByLabel('Client secret').fill(paybell.clientSecret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(/Signed in as/).waitFor()
  const pages = await page.getByRole('navigation').getByRole('link').allTextContents()
  for (const forOperators of ['Clients', 'Audit', 'Settings']) {
    assert.ok(!pages.includes(forOperators), `${forOperators} is not for a client`)
  }
})

site.test('a wrong key is refused in words', { allowedErrors: REFUSED }, async ({ page, go }) => {
  await go('/')
  await page.getByLabel('Operator key').fill('x'.repeat(40))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('No operator has this key').waitFor()
})

site.test('a link signs in once', { allowedErrors: REFUSED }, async ({ page, go }) => {
  const link = await createSignInLink(paybell.app.deps)
  await page.goto(`/console/sign-in#${link}`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.ok(!page.url().includes(link), 'the address keeps no secret')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.goto(`/console/sign-in#${link}`)
  await page.getByRole('alert').getByText('The link was used already').waitFor()
  await go('/')
  await page.getByLabel('Operator key').waitFor()
})

site.test(
  'an operator makes a link that signs a client in, once',
  { as: 'operator', allowedErrors: REFUSED },
  async ({ page, go, checkAccessibility }) => {
    await go(`/clients/${paybell.clientId}`)
    await page.getByRole('button', { name: 'Console link' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('dialog').locator('pre').innerText()
    await checkAccessibility()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const pages = page.getByRole('navigation').getByRole('link')
    await pages.filter({ hasText: 'Deliveries' }).waitFor()
    assert.equal(await pages.filter({ hasText: 'Clients' }).count(), 0, 'it is the client')
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('alert').getByText('The link was used already').waitFor()
  },
)

site.test(
  'a key that only writes payments sees a page that says so',
  {},
  async ({ page, go, signIn }) => {
    await signIn({ operatorKey: core.key })
    await go('/')
    await page.getByRole('heading', { name: 'Nothing to see with this key' }).waitFor()
  },
)

site.test(
  'a revoked key ends its session',
  { allowedErrors: REFUSED },
  async ({ page, go, signIn }) => {
    await signIn({ operatorKey: leaving.key })
    await go('/settings')
    await page.getByText('Signed in as leaving').waitFor()
    await revokeOperatorKey(deps, leaving.id)
    await page.waitForTimeout(2_100)
    await page.reload()
    await page.getByLabel('Operator key').waitFor()
  },
)
