// The console in a page of another origin, which is another site to the browser: its cookies are those of a third party.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { createConsoleLink } from '../../server/operations/access/create-console-link.ts'
import { until } from '../support/paybell.ts'
import { openSite } from './support.ts'

/** The service is at 127.0.0.1: to the browser, this is another site. */
const HOST = '127.0.0.2'

/** A product's page that shows the address behind its question mark. */
async function startProduct(): Promise<string> {
  const server = createServer((request, response) => {
    const shown = decodeURIComponent(request.url?.split('?')[1] ?? '')
    const isLogo = request.url === '/logo.svg'
    response.setHeader('content-type', isLogo ? 'image/svg+xml' : 'text/html')
    if (isLogo)
      return void response.end('<svg xmlns="http://www.w3.org/2000/svg" width="22" height="22"/>')
    response.end(
      `<!doctype html><title>Product</title><iframe width=1000 height=800 src="${shown}">`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  after(() => void server.close())
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}

const product = await startProduct()
const stranger = await startProduct()
const site = await openSite(
  { after },
  {
    env: {
      PAYBELL_CONSOLE_EMBED_ORIGINS: product,
      PAYBELL_CONSOLE_THEME: `accent=#7a1fa2,logo=${product}/logo.svg,name=Acme Pay`,
    },
  },
)
const { paybell } = site
const PAGES = /^left the service: http:\/\/127\.0\.0\.2:/

const pageWith = (host: string, address: string) => `${host}/?${encodeURIComponent(address)}`

async function makeLink(): Promise<string> {
  const { token } = await createConsoleLink(paybell.app.deps, paybell.clientId)
  return `${paybell.baseUrl}/console/sign-in#${token}`
}

site.test(
  'a product shows a client its console, signed in by a link, until it signs out',
  { allowedErrors: [PAGES, /favicon/] },
  async ({ page }) => {
    await page.goto(pageWith(product, await makeLink()))
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Overview' }).waitFor()
    await frame.getByRole('navigation').getByRole('link', { name: 'Deliveries' }).click()
    await frame.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor()
    await page.goto(pageWith(product, `${paybell.baseUrl}/console/`))
    await frame.getByRole('heading', { name: 'Overview' }).waitFor()
    // The same address in a window of its own knows nothing of it.
    await page.goto(`${paybell.baseUrl}/console/`)
    await page.getByLabel('Operator key').waitFor()
    await page.goto(pageWith(product, `${paybell.baseUrl}/console/`))
    await frame.getByRole('button', { name: 'Sign out' }).click()
    await frame.getByRole('heading', { name: 'You are signed out' }).waitFor()
    assert.equal(await frame.getByLabel('Operator key').count(), 0, 'no secret is typed in a frame')
  },
)

site.test(
  'an operator’s session does not count in a frame',
  { as: 'operator', allowedErrors: [PAGES, /favicon/] },
  async ({ page, go }) => {
    await go('/')
    await page.goto(pageWith(product, `${paybell.baseUrl}/console/`))
    await page.frameLocator('iframe').getByRole('heading', { name: 'You are signed out' }).waitFor()
  },
)

site.test(
  'no page of another origin can show it',
  { allowedErrors: [PAGES, /favicon/, /frame-ancestors/] },
  async ({ page }) => {
    const refused = page.waitForEvent('console', (message) =>
      message.text().includes('frame-ancestors'),
    )
    await page.goto(pageWith(stranger, await makeLink()))
    await refused
    assert.equal(await page.frameLocator('iframe').getByRole('heading').count(), 0)
  },
)

site.test(
  'the console has the colour, the logo and the name of the product, and can be read in both themes',
  { as: 'client', allowedErrors: [PAGES] },
  async ({ page, go, checkAccessibility }) => {
    await go('/deliveries')
    await page.getByRole('link', { name: 'Acme Pay' }).waitFor()
    assert.equal(await page.title(), 'Deliveries · Acme Pay')
    const logo = page.locator('.brand img')
    await until('the logo is loaded', () =>
      logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth === 22),
    )
    const colour = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('a[href="/guides/"]')).color`,
    )
    assert.equal(colour, 'rgb(122, 31, 162)')
    await checkAccessibility()
  },
)
