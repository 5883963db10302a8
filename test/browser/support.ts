// The console in a real browser, against the whole service. A test file opens one site and declares its
// tests through it:
//
//   const site = await openSite({ after })
//   site.test('an operator signs in', { as: 'operator' }, async ({ page, go }) => { … })
//
// Each test gets a page of its own, which fails it on any error in the browser's console (a breach of the
// policy is one) and on any request that leaves the service. Without a Chromium all tests are skipped.

import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import { limitOf, PATIENCE_MS } from '../support/busy-machine.ts'
import type { Owner } from '../support/owner.ts'
import { type Paybell, type PaybellOptions, startPaybell, until } from '../support/paybell.ts'
import { buildConsole } from './built-console.ts'
import { launchChromium } from './chromium.ts'

const SHOTS = fileURLToPath(new URL('../../docs/console/', import.meta.url))

/** An error that comes with signing out where the browser is slow: its live stream still stands when the session ends. */
export const CUT_OFF_STREAM = /ERR_INCOMPLETE_CHUNKED_ENCODING .*\/stream/

/** The second attempt is hours away, however slow the browser is: what arrives before was asked for by a click. */
export const HOURS_APART: PaybellOptions = {
  timing: { retry: { ...retryPolicy(), baseMs: 2 * 3_600_000 } },
}

const WIDE = { width: 1280, height: 860 }

export type Theme = 'light' | 'dark'

export interface VisitOptions {
  /** Signed in already, without going through the form; by default without a session. */
  as?: 'operator' | 'client' | { operatorKey: string } | { clientId: string; clientSecret: string }
  width?: number
  height?: number
  theme?: Theme
  /** What `navigator.language` says; British English unless said. */
  language?: string
  /** Where the viewer's clock is; UTC unless said. */
  zone?: string
  /** Errors of the browser's console that belong to the test: a refused sign-in is a 401. */
  allowedErrors?: readonly RegExp[]
}

/** One page of one test. */
export interface Visit {
  t: TestContext
  page: Page
  paybell: Paybell
  /** Opens an address under /console and waits until its heading is there. */
  go(path: string): Promise<void>
  /** Nothing serious by axe, in both themes, but for the rules that are excepted. */
  checkAccessibility(excepted?: readonly string[]): Promise<void>
  /** docs/console/<name>.png, when PAYBELL_SCREENSHOTS=1. */
  shoot(name: string): Promise<void>
  signIn(as: NonNullable<VisitOptions['as']>): Promise<void>
}

export interface Site {
  paybell: Paybell
  test(name: string, options: VisitOptions, work: (visit: Visit) => Promise<void>): void
}

export async function openSite(
  owner: Owner,
  options: PaybellOptions = {},
  /** One that runs already, at the address that browsers use. */
  running?: Paybell,
): Promise<Site> {
  await buildConsole()
  const browser = await launchChromium()
  const paybell = running ?? (await startPaybell(owner, options))
  if (typeof browser === 'string') console.log(`# browser tests are skipped: ${browser}`)
  else owner.after(() => browser.close())
  return {
    paybell,
    test(name, visitOptions, work) {
      const skip = typeof browser === 'string' ? browser : false
      test(name, { skip }, async (t) => {
        await visit(t, browser as Browser, paybell, visitOptions, work)
      })
    },
  }
}

async function visit(
  t: TestContext,
  browser: Browser,
  paybell: Paybell,
  options: VisitOptions,
  work: (visit: Visit) => Promise<void>,
): Promise<void> {
  const { theme = 'light', allowedErrors = [] } = options
  const { width = WIDE.width, height = WIDE.height } = options
  const context = await browser.newContext({
    baseURL: paybell.baseUrl,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: options.zone ?? 'UTC',
    ...(options.language === undefined ? { locale: 'en-GB' } : {}),
  })
  if (options.language !== undefined) await speak(context, options.language)
  // On a busy machine a click alone has taken more than ten seconds.
  context.setDefaultTimeout(limitOf(PATIENCE_MS))
  const faults = watch(context, paybell.baseUrl)
  try {
    const page = await context.newPage()
    const signIn = (as: NonNullable<VisitOptions['as']>) => openSession(context, paybell, as)
    if (options.as !== undefined) await signIn(options.as)
    await work({
      t,
      page,
      paybell,
      signIn,
      go: async (path) => {
        await page.goto(`/console${path}`)
        await page.locator('h1').first().waitFor()
      },
      checkAccessibility: (excepted) => checkAccessibility(page, theme, excepted),
      shoot: (name) => shoot(page, name),
    })
  } finally {
    await context.close()
  }
  const unexpected = faults.filter((fault) => !allowedErrors.some((one) => one.test(fault)))
  assert.deepEqual(unexpected, [], 'errors in the browser, or requests that left the service')
}

/** As a browser does in its environment's language, of which not all are known to `Intl`. */
async function speak(context: BrowserContext, language: string): Promise<void> {
  await context.addInitScript((spoken) => {
    Object.defineProperty(navigator, 'language', { get: () => spoken })
    Object.defineProperty(navigator, 'languages', { get: () => [spoken] })
  }, language)
}

/** Whatever goes wrong in any page of the context, as it happens. */
function watch(context: BrowserContext, baseUrl: string): string[] {
  const faults: string[] = []
  const isOwn = (url: string) => url.startsWith(`${baseUrl}/`) || /^(data|blob|about):/.test(url)
  context.on('console', (message) => {
    if (message.type() === 'error')
      faults.push(`console: ${message.text()} ${message.location().url}`)
  })
  context.on('weberror', (error) => faults.push(`error: ${error.error().message}`))
  context.on('request', (request) => {
    if (!isOwn(request.url())) faults.push(`left the service: ${request.url()}`)
  })
  return faults
}

async function openSession(
  context: BrowserContext,
  paybell: Paybell,
  as: NonNullable<VisitOptions['as']>,
): Promise<void> {
  const { operatorKey, clientId, clientSecret } = paybell
  const credentials =
    as === 'operator' ? { operatorKey } : as === 'client' ? { clientId, clientSecret } : as
  const answer = await context.request.post('/console/session', {
    data: credentials,
    headers: { 'x-paybell-console': '1' },
  })
  assert.equal(answer.status(), 204, await answer.text())
}

interface AxeViolation {
  id: string
  impact: string | null
  help: string
  nodes: readonly { html: string; failureSummary?: string }[]
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Without what none of its rules here needs: style sheets loaded again, frames, a selector for each element. */
const AXE_OPTIONS = `{ resultTypes: ['violations'], preload: false, iframes: false, selectors: false }`

async function checkAccessibility(
  page: Page,
  theme: Theme,
  excepted: readonly string[] = [],
): Promise<void> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(await axeSource)
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    // Only colours differ between the themes.
    const rules = scheme === theme ? '' : `runOnly: ['color-contrast'],`
    const violations = await page.evaluate<AxeViolation[]>(
      `axe.run(document, { ${rules} ...${AXE_OPTIONS} }).then(({ violations }) => violations)`,
    )
    const serious = violations.filter(
      ({ id, impact }) => (impact === 'serious' || impact === 'critical') && !excepted.includes(id),
    )
    const lines = serious.map(({ id, help, nodes }) => {
      const where = nodes
        .slice(0, 5)
        .map((node) => `${node.html}\n    ${node.failureSummary ?? ''}`)
      return `${id}: ${help}\n  ${where.join('\n  ')}`
    })
    assert.equal(serious.length, 0, `${scheme}, ${page.url()}\n${lines.join('\n')}`)
  }
  await page.emulateMedia({ colorScheme: theme })
}

/** A part of the page in sight. */
export async function openTab(page: Page, name: string): Promise<void> {
  const tab = page
    .getByRole('main')
    .getByRole('navigation')
    .getByRole('link', { name, exact: true })
  await tab.click()
  await tab.and(page.locator('[aria-current=page]')).waitFor()
}

/** Nothing is wider than a small screen; charts follow its width a frame later. */
export async function checkNarrow(page: Page): Promise<void> {
  await page.setViewportSize({ width: 380, height: 800 })
  await until(`${page.url()} is not too wide for 380 px`, () =>
    page.evaluate<boolean>(
      'document.documentElement.scrollWidth === document.documentElement.clientWidth',
    ),
  )
  await page.setViewportSize(WIDE)
}

async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.PAYBELL_SCREENSHOTS !== '1') return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png`, scale: 'css', animations: 'disabled' })
}
