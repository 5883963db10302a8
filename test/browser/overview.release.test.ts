// The first page, for the operator and for a client, against a service that delivers while it is looked at.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { DURATION_BUCKETS } from '../../server/core/delivery/health.ts'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { saveAttemptSteps } from '../../server/store/history/stats.ts'
import { Caller } from '../support/caller.ts'
import { addClient, readDeliveries, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { openSite } from './support.ts'

const FIRST_LOAD_BYTES_MAX = 150 * 1024

const site = await openSite({ after })
const { paybell } = site
const good = await startReceiver({ after })
const bad = await startReceiver({ after })
bad.answer = 500
await paybell.caller.register(good.url('/good'), 'key-of-the-good')
await paybell.caller.register(bad.url('/bad'), 'key-of-the-bad')

async function writePayments(count: number): Promise<void> {
  for (let written = 0; written < count; written++) {
    await paybell.caller.pay()
  }
}
/** An hour that went before: as other processes would have counted it. */
async function makeHistory(): Promise<number> {
  const stepMs = 60_000
  const nowMs = Math.floor(Date.now() / stepMs) * stepMs
  const steps = Array.from({ length: 60 }, (_, index) => {
    const delivered = Math.round(90 + 40 * Math.sin(index / 6) + ((index * 37) % 23))
    const failed = index > 38 && index < 46 ? 30 : (index * 7) % 4
    const slowest = 13 + (index % 3) + (failed > 20 ? 3 : 0)
    const durations = Array.from({ length: DURATION_BUCKETS }, (_, bucket) =>
      bucket > 5 && bucket <= slowest ? 1 + Math.round(delivered / 2 ** (bucket - 5)) : 0,
    )
    return {
      stepSeconds: 60,
      atMs: nowMs - (59 - index) * stepMs,
      attempts: delivered + failed,
      delivered,
      durations,
    }
  })
  await saveAttemptSteps(paybell.pool, randomUUID(), steps)
  const delivered = steps.reduce((sum, step) => sum + step.delivered, 0)
  await paybell.pool.query(
    `insert into final_counts (day, state, count) values (current_date, 'DELIVERED', $1)`,
    [delivered],
  )
  return delivered
}

const deliveredBefore = await makeHistory()
await writePayments(12)
await until('some are delivered', async () => {
  const deliveries = await readDeliveries(paybell.pool)
  return deliveries.filter(({ state }) => state === 'DELIVERED').length >= 12
})
const fresh = await addClient(paybell, 'Adventure Works')
/** What runs a program of each language that it is handed. */
const PROGRAMS = [
  ['curl', 'bash', []],
  ['Node', process.execPath, ['--input-type=module', '-']],
  ['Python', 'python3', ['-']],
] as const
/** All that it printed, or null where there is no such command. The service is in this process: it must go on. */
async function run(command: string, read: readonly string[], program: string) {
  const child = spawn(command, read, {
    env: { ...process.env, PAYBELL_CLIENT_SECRET: fresh.clientSecret },
  })
  const said = Promise.all([text(child.stdout), text(child.stderr)])
  child.stdin.on('error', () => {}).end(program)
  const isThere = await once(child, 'spawn').then(
    () => true,
    () => false,
  )
  return isThere ? (await said).join('') : null
}
const viewer = await createOperatorKey(paybell.app.deps, { name: 'vera', role: 'viewer' })

site.test('the operator sees whether callbacks get through', { as: 'operator' }, async (visit) => {
  const { page, go, checkAccessibility, shoot } = visit
  await go('/')
  await page.getByText(/^1 of \d+ endpoints failing$/).waitFor()
  const tile = page.getByRole('list', { name: 'Now' }).getByRole('listitem')
  const delivered = (deliveredBefore + 12).toLocaleString('en-GB')
  await tile.filter({ hasText: 'Delivered' }).getByText(delivered, { exact: true }).waitFor()
  for (const name of ['Deliveries per minute', 'Success rate', 'Latency of attempts']) {
    await page.getByRole('img', { name: new RegExp(`^${name}: `) }).waitFor()
  }
  const troubled = page.getByRole('table', { name: 'Failing endpoints' })
  await troubled.getByRole('link', { name: bad.url('/bad').replace('http://', '') }).waitFor()
  const due = page.getByRole('table', { name: /^Pending by due time/ })
  assert.match((await due.textContent()) ?? '', /Within \d+ min\d+/)
  await tile.filter({ hasText: 'Success by delivery' }).getByText('100%', { exact: true }).waitFor()
  await tile.filter({ hasText: 'Success by attempt' }).waitFor()
  // Those from before the page was opened, and each only once after a pause.
  const attempts = page.getByRole('table', { name: 'Latest attempts' }).locator('tbody tr')
  await attempts.nth(19).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  const newest = await attempts.first().textContent()
  await writePayments(3)
  await until('newer ones', async () => (await attempts.first().textContent()) !== newest)
  await attempts.getByText('answered 200').first().waitFor()
  const shown = await attempts
    .locator('a[href*="/deliveries/"]')
    .evaluateAll((links) =>
      links.map((link) => (link as unknown as { outerHTML: string }).outerHTML),
    )
  assert.equal(new Set(shown).size, shown.length)
  await checkAccessibility()
  await shoot('overview')
})

site.test(
  'regression: the overview works where the browser’s language is none that Intl knows',
  // Chromium with LANG=C.UTF-8, as in containers and on minimal machines.
  { as: 'operator', language: 'en-US@posix' },
  async ({ page, go }) => {
    await go('/')
    await page.getByRole('img', { name: /^Deliveries per minute: / }).waitFor()
    assert.equal(await page.evaluate(() => navigator.language), 'en-US@posix')
  },
)

site.test('the numbers of a chart are a table, too', { as: 'operator' }, async ({ page, go }) => {
  await go('/?window=day')
  const chart = page.getByRole('region', { name: 'Deliveries per minute' }).first()
  await chart.getByText('As a table').click()
  assert.equal(await chart.locator('.chart-rows tr').count(), 97)
  assert.equal(await page.getByRole('button', { name: 'Day' }).getAttribute('aria-pressed'), 'true')
})

site.test(
  'a client sees its own, and the address of a page for others leads nowhere',
  { as: 'client' },
  async (visit) => {
    const { page, go, checkAccessibility } = visit
    await go('/')
    await page.getByText(/^Of your \d+ endpoints: \d+ failing/).waitFor()
    await page
      .getByRole('link', { name: good.url('/good') })
      .first()
      .waitFor()
    await page.getByRole('table', { name: 'Latest deliveries' }).waitFor()
    await checkAccessibility()
    await go('/settings')
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
  },
)

site.test(
  'a new client is led to its first callback, by snippets that work as they are pasted',
  { as: { clientId: fresh.clientId, clientSecret: fresh.clientSecret } },
  async ({ t, page, go, checkAccessibility, shoot }) => {
    await go('/')
    const steps = page.getByRole('region', { name: 'Get your first callback' })
    await steps.getByText('Register an endpoint').first().waitFor()
    const access = page.getByRole('region', { name: 'API access' })
    for (const known of [paybell.baseUrl, fresh.clientId, fresh.accountId]) {
      await access.getByText(known, { exact: true }).first().waitFor()
    }
    const trigger = `npx paybell trigger --state DRAFT --account ${fresh.accountId}`
    await steps.getByText(trigger).waitFor()
    await checkAccessibility()
    await shoot('first-look')
    const code = steps.getByRole('region', { name: 'From your code' }).locator('pre')
    for (const [language, command, read] of PROGRAMS) {
      await steps.getByRole('button', { name: language }).click()
      const program = await code.innerText()
      const said = await run(command, read, program)
      if (said === null) t.diagnostic(`${command} is not on this machine`)
      else assert.match(said, /delivered['"]?: ?true/i, language)
    }
    // It sees what was registered, and goes on.
    await page.reload()
    await steps.getByText('Register an endpoint (done)').waitFor()
    await steps.getByRole('button', { name: 'Send a test' }).click()
    await steps.getByText('counts as delivered').waitFor()
    await checkAccessibility()
    const id = randomUUID()
    assert.equal((await new Caller(fresh).putSample(id)).status, 201)
    await page.getByText('Your callbacks arrive').waitFor()
    await steps.waitFor({ state: 'detached' })
  },
)

site.test(
  'a viewer looks at everything and is offered no action',
  // Whether a segment of the audit is sealed by then depends on the time: without one there is no head.
  { as: { operatorKey: viewer.key }, allowedErrors: [/404 .*\/audit\/head/] },
  async ({ page, go }) => {
    const actions =
      /^(replay|retry|cancel|break|preview|resume|rotate|send|run|change|onboard|disable|enable|revoke|recover|new|issue|open an)\b/i
    const { rows } = await paybell.pool.query(
      'select id, endpoint_id from pending_deliveries limit 1',
    )
    const details = [
      `/deliveries/${rows[0].id}`,
      ...['', '?tab=settings', '?tab=recover'].map(
        (tab) => `/endpoints/${rows[0].endpoint_id}${tab}`,
      ),
      `/clients/${paybell.clientId}`,
    ]
    for (const path of [
      '/deliveries',
      '/payments',
      '/endpoints',
      '/clients',
      '/audit',
      ...details,
    ]) {
      await go(path)
      await until('it is read', async () => (await page.locator('.loading').count()) === 0)
      const buttons = await page.getByRole('main').getByRole('button').allTextContents()
      assert.deepEqual(
        buttons.filter((text) => actions.test(text)),
        [],
        path,
      )
    }
  },
)

site.test('settings are shown, secrets are not', { as: 'operator' }, async (visit) => {
  const { page, go, checkAccessibility } = visit
  await go('/settings')
  await page.getByText('PAYBELL_RETENTION_DAYS').waitFor()
  await page.getByRole('table', { name: 'Processes alive' }).getByTitle('0–63').waitFor()
  assert.ok(!(await page.content()).includes(paybell.operatorKey))
  await page.getByLabel('Find').fill('retention')
  await page.getByText('PAYBELL_ORDER_PATIENCE').waitFor({ state: 'detached' })
  await page.getByLabel('Find').fill('')
  await checkAccessibility()
})

site.test(
  'a deep link survives a reload, under a policy that lets nothing in',
  { as: 'operator' },
  async ({ page, go }) => {
    await go('/settings?x=1')
    const answer = await page.reload()
    const policy = (await answer?.headerValue('content-security-policy')) ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self';/)
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  },
)

site.test('the reference of the interface can be read in both themes', {}, async (visit) => {
  const { page, checkAccessibility } = visit
  await page.goto('/docs/')
  await page.getByRole('heading', { name: 'Paybell' }).first().waitFor()
  await page.getByRole('link', { name: /Obtain an access token/ }).waitFor()
  // The names of its copy buttons are the library's, and missing.
  await checkAccessibility(['button-name'])
})

site.test('the first load is small', { as: 'operator' }, async ({ page, go, t }) => {
  await go('/')
  await page.getByRole('list', { name: 'Now' }).waitFor()
  const scripts = await page.evaluate<[string, number][]>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
       .map(({ name, encodedBodySize }) => [name, encodedBodySize])`,
  )
  const bytes = scripts.reduce((sum, [, size]) => sum + size, 0)
  t.diagnostic(`${bytes} bytes of script, gzipped, in ${scripts.length} files`)
  assert.ok(scripts.length > 1 && bytes > 10_000 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
})

site.test(
  'on a small screen the menu opens and nothing is cut off',
  { as: 'operator', width: 380, theme: 'dark' },
  async ({ page, go, checkAccessibility }) => {
    await go('/')
    await page.getByRole('list', { name: 'Now' }).waitFor()
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    assert.equal(overflow, 0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await checkAccessibility()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  },
)
