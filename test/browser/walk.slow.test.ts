// Every page of the console in a real browser, as an operator and as a client who sign in and out by the form: each
// has what it is for, in every tab, breaks no policy, asks nobody but the service, and is accessible in both themes. One page of the
// browser walks through all of them. What can be done on them is proven by the neighbours, ….release.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { issue } from '../support/issue-certificate.ts'
import { until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { CUT_OFF_STREAM, openSite, openTab, type Visit } from './support.ts'

type Kind = 'operator' | 'client'

interface ConsolePage {
  path: string
  title: string
  for: readonly Kind[]
}

/** Not by an import that TypeScript follows: the pages themselves are of another world, with a DOM. */
const INDEX = new URL('../../console/src/pages/index.ts', import.meta.url).href
const { PAGES } = (await import(INDEX)) as { PAGES: readonly ConsolePage[] }

const table = (name: string) => (page: Page) => page.getByRole('table', { name, exact: true })
const region = (name: string) => (page: Page) => page.getByRole('region', { name, exact: true })
const text = (words: string | RegExp) => (page: Page) => page.getByText(words)

/** What is there once a page has been read. */
const FACTS: Readonly<Record<string, (page: Page, kind: Kind) => ReturnType<Page['getByText']>>> = {
  '/': (page, kind) =>
    kind === 'operator'
      ? page.getByRole('img', { name: /^Latency of attempts: / })
      : page.getByRole('table', { name: 'Latest deliveries' }),
  '/deliveries': table('Deliveries'),
  '/deliveries/:id': text(/^Delivered: (the|your) endpoint answered 200/),
  '/payments': table('Payments'),
  '/payments/:id': (page) => page.locator('[aria-current=step]'),
  '/endpoints': (page) => page.getByRole('main').getByRole('table'),
  '/endpoints/:id': (page) => page.getByRole('img', { name: /^Attempts per hour: / }),
  '/clients': table('Clients'),
  '/clients/:id': table('Accounts'),
  '/jobs': table('Jobs'),
  '/jobs/:id': region('Delivery status'),
  '/keys': table('Operator keys'),
  '/certificates': table('Certificates'),
  '/audit': table('Audit'),
  '/playground': table('What the receiver got'),
  '/settings': text('PAYBELL_RETENTION_DAYS'),
}

const GUIDES = ['', 'console', 'receivers', 'problems']

const site = await openSite({ after })
const { paybell } = site

async function operate<T>(path: string, body?: object): Promise<T> {
  const answer = await paybell.caller.operate(body === undefined ? 'GET' : 'POST', path, body)
  assert.ok(answer.ok, `${path}: ${answer.status}`)
  return (await answer.json()) as T
}

/** One delivery that arrived, sent again by a job, a second key and a certificate: nothing that changes while it is looked at. */
async function fill(): Promise<Readonly<Record<string, string>>> {
  const url = `${paybell.baseUrl}/sandbox/receiver/walk`
  assert.equal((await paybell.caller.register(url, 'a-shared-key-of-the-tests')).status, 200)
  const paymentId = randomUUID()
  const body = sampleBody({ id: paymentId, version: undefined })
  assert.equal((await paybell.caller.putPayment(paymentId, body)).status, 201)
  const delivered = (attempts: number) =>
    until(`delivered with attempt ${attempts}`, async () => {
      const { items } = await operate<{
        items: { id: string; state: string; attempts: number; endpointId: string }[]
      }>('/deliveries')
      return items.find((one) => one.state === 'DELIVERED' && one.attempts === attempts)
    })
  const { id, endpointId } = await delivered(1)
  await operate('/deliveries/replay', { filter: { paymentId } })
  await delivered(2)
  const jobs = await operate<{ content: { id: string }[] }>('/jobs')
  await operate('/keys', { name: 'second', role: 'viewer' })
  const own = issue({ subject: 'CN=paybell', purposes: ['client'] })
  const pems = { certificatePem: own.pem, privateKeyPem: own.keyPem }
  await operate('/client-certificates', { name: 'pix', clients: 'everyone', ...pems })
  return {
    '/deliveries/:id': id,
    '/payments/:id': paymentId,
    '/endpoints/:id': endpointId,
    '/clients/:id': paybell.clientId,
    '/jobs/:id': jobs.content[0]?.id ?? assert.fail('a replay is a job'),
  }
}

/** Those in the navigation by their link, the others by their address. */
async function open({ page, go }: Visit, { path, title }: ConsolePage): Promise<void> {
  if (path.includes(':')) return go(path.replace(':id', ids[path] ?? assert.fail(`fill ${path}`)))
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await pages.getByRole('link', { name: title, exact: true }).click()
}

async function walk(visit: Visit, kind: Kind): Promise<void> {
  const { t, page, checkAccessibility } = visit
  for (const one of PAGES.filter((page) => page.for.includes(kind))) {
    await t.test(`${kind}: ${one.path}`, async () => {
      const fact = FACTS[one.path] ?? assert.fail(`say what ${one.path} shows`)
      await open(visit, one)
      await fact(page, kind).first().waitFor()
      for (const tab of ['', ...(await page.locator('.tabs a').allInnerTexts()).slice(1)]) {
        if (tab !== '') await openTab(page, tab)
        await until('all is read', async () => (await page.locator('.loading').count()) === 0)
        await checkAccessibility()
      }
    })
  }
}

const ids = await fill()

site.test(
  'an operator and a client sign in, see all their pages, and sign out',
  { allowedErrors: [/401 .*\/console\/session/, CUT_OFF_STREAM] },
  async (visit) => {
    const { t, page, go, checkAccessibility } = visit
    /** Who is not signed in would wait for each page in vain. */
    const passes = async (name: string, work: () => Promise<void>) => {
      let hasPassed = false
      await t.test(name, async () => {
        await work()
        hasPassed = true
      })
      return hasPassed
    }
    const signIn = () => page.getByRole('button', { name: 'Sign in' }).click()
    const signOut = async () => {
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Operator key').waitFor()
    }

    const isIn = await passes(
      'a wrong key is refused in words, the right one signs in',
      async () => {
        await go('/')
        await page.getByLabel('Operator key').fill('x'.repeat(40))
        await signIn()
        await page.getByRole('alert').getByText('No operator has this key').waitFor()
        await checkAccessibility()
        await page.getByLabel('Operator key').fill(paybell.operatorKey)
        await signIn()
        await page.getByText('Signed in as operator').waitFor()
      },
    )
    if (!isIn) return
    await walk(visit, 'operator')
    await t.test('a session that was ended stays so', async () => {
      await signOut()
      await page.reload()
      await page.getByLabel('Operator key').waitFor()
    })

    const isClientIn = await passes('a client signs in and gets its own navigation', async () => {
      await page.getByRole('button', { name: 'Client', exact: true }).click()
      await page.getByLabel('Client id').fill(paybell.clientId)
      await page.getByLabel('Client secret').fill(paybell.clientSecret)
      await signIn()
      await page.getByText('Signed in as Test client').waitFor()
      const pages = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
      assert.equal(pages.length, 5)
    })
    if (!isClientIn) return
    await walk(visit, 'client')
    await signOut()

    for (const guide of GUIDES) {
      await t.test(`everyone: /guides/${guide}`, async () => {
        await page.goto(`/guides/${guide}`)
        await page.locator('h1').waitFor()
        await checkAccessibility()
      })
    }
  },
)
