// Signing in with the company in a real browser: the cookies, the policy of the pages and the redirects between two sites
// are the browser's own.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { CUT_OFF_STREAM, openSite } from './support.ts'

const company = await startIdentityProvider({ after })
const site = await openSite({ after }, { env: company.env })
company.know(site.paybell.baseUrl)
company.people.set('ada', { email: 'ada@company.example', groups: ['payments-admins'] })
company.people.set('nobody', { groups: [] })
const OTHER_SITE = new RegExp(`left the service: ${company.issuer}`)

site.test(
  'a person signs in with the company, and out of both',
  { allowedErrors: [OTHER_SITE, CUT_OFF_STREAM, /401/] },
  async ({ page, go, checkAccessibility }) => {
    company.at = 'ada'
    await go('/')
    const door = page.getByRole('link', { name: `Sign in with ${new URL(company.issuer).host}` })
    await door.waitFor()
    await checkAccessibility()
    await door.click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('oidc:ada ada@company.example').waitFor()
    const cookies = (await page.context().cookies()).map(({ name }) => name)
    assert.ok(cookies.includes('paybell_session') && !cookies.includes('paybell_oidc'))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await door.waitFor()
  },
)

site.test(
  'a person agrees to sign the command line in',
  { allowedErrors: [OTHER_SITE, /left the service: http:\/\/127\.0\.0\.1/] },
  async ({ page, checkAccessibility }) => {
    company.at = 'ada'
    const cameTo: URL[] = []
    const waiting = createServer((request, response) => {
      cameTo.push(new URL(request.url ?? '', 'http://127.0.0.1'))
      response.end('It is here.')
    })
    waiting.listen(0, '127.0.0.1')
    await once(waiting, 'listening')
    try {
      const random = () => randomBytes(32).toString('base64url')
      const { port } = waiting.address() as AddressInfo
      const query = new URLSearchParams({
        port: String(port),
        state: random(),
        challenge: random(),
      })
      await page.goto(`${site.paybell.baseUrl}/console/oidc/sign-in?${query}`)
      await page.getByRole('heading', { name: 'Sign in the command line?' }).waitFor()
      await checkAccessibility()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText('It is here.').waitFor()
      assert.ok((cameTo[0]?.searchParams.get('code') ?? '').length > 100)
    } finally {
      waiting.close()
      waiting.closeAllConnections()
    }
  },
)

site.test(
  'a person without a role is told which groups have one',
  { allowedErrors: [OTHER_SITE, /403/] },
  async ({ page, go }) => {
    company.at = 'nobody'
    await go('/')
    await page.getByRole('link', { name: /^Sign in with/ }).click()
    await page.getByRole('heading', { name: 'No role' }).waitFor()
    await page.getByText('payments-admins').waitFor()
  },
)
