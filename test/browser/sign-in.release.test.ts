// Signing in to the console other than by the form, which walk.slow.test.ts fills in: by a link, with a key of another role,
// with one that is revoked.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { createSignInLink } from '../../server/operations/access/console-session.ts'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { revokeOperatorKey } from '../../server/operations/access/revoke-operator-key.ts'
import { until } from '../support/paybell.ts'
import { CUT_OFF_STREAM, openSite } from './support.ts'

const site = await openSite({ after })
const { paybell } = site
const REFUSED = [/401/, CUT_OFF_STREAM]

// Made before the service has read its keys, because it then caches them for a moment.
const { deps } = paybell.app
const leaving = await createOperatorKey(deps, { name: 'leaving', role: 'viewer' })
const core = await createOperatorKey(deps, { name: 'core', role: 'ingest' })

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
    // The service remembers for a moment that the key was good.
    const form = page.getByLabel('Operator key')
    await until('the session has ended', async () => {
      await page.reload()
      await form.or(page.getByText('Signed in as')).waitFor()
      return form.isVisible()
    })
  },
)
