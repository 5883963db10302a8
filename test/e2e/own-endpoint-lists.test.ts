// A client's list of its own endpoints, over real sockets and by the command line: by kind, by filter, in each order and
// with health, and never another's.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { Caller, type ListedEndpoint } from '../support/caller.ts'
import { addAccount, addClient, startPaybell } from '../support/paybell.ts'

const KEY = 'a-shared-key-of-some-length'
const paybell = await startPaybell({ after })

interface Listed extends ListedEndpoint {
  kind?: string
  accountId?: string
  health?: { failingSince: string | null; lastError: string | null; pending: number }
}

/** A client with three webhooks, a subscription and a listener; the webhook `/b` has failed. */
async function newShop() {
  const facts = await addClient(paybell)
  const second = await addAccount(paybell, facts)
  const [caller, elsewhere] = [new Caller(facts), new Caller(second)]
  const webhooks: Record<string, string> = {}
  for (const name of ['b', 'a']) {
    webhooks[name] = await caller.addWebhook(`https://shop.example.com/${name}`, KEY)
  }
  webhooks.c = await elsewhere.addWebhook('https://ledger.example.com/c', KEY)
  const subscription = await caller.addSubscription('https://shop.example.com/all', KEY)
  const answer = await caller.call('POST', '/v1/listeners', { name: 'till', sharedKey: KEY })
  const listener = ((await answer.json()) as { id: string }).id
  await paybell.pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since, last_error, circuit)
     select client_key, id, '2026-01-01T00:00:00Z', 'blocked:non-public-address', 'CLOSED' from endpoints where id = $1`,
    [webhooks.b],
  )
  return { facts, second, caller, elsewhere, webhooks, subscription, listener }
}

const shop = await newShop()
const stranger = await newShop()
const headers = { authorization: `Bearer ${await shop.caller.token()}` }

async function list(query: string, more: Record<string, string> = {}) {
  const answer = await fetch(`${paybell.baseUrl}/v1/webhooks?${query}`, {
    headers: { ...headers, ...more },
  })
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as { content: Listed[]; totalElements: number; totalPages: number }
}

/** The last letters of their addresses, in order. */
const namesOf = (content: readonly Listed[]) =>
  content.map(({ endpointUrl }) => endpointUrl.split(/[/:]/).at(-1)).join(' ')
const names = async (query: string, more?: Record<string, string>) =>
  namesOf((await list(query, more)).content)

const inFirst = { accountid: shop.facts.accountId }
const inSecond = { accountid: shop.second.accountId }

test('each kind is listed alone, or all of them; without kind it is webhooks, as before', async () => {
  assert.equal(await names(''), 'b a c')
  assert.equal(await names('kind=webhook'), 'b a c')
  assert.equal(await names('kind=subscription'), 'all')
  assert.equal(await names('kind=listener'), 'till')
  assert.equal(await names('kind=any'), 'b a c all till')
  const { content } = await list('kind=any')
  assert.deepEqual(
    content.map(({ kind, accountId }) => [kind, accountId]),
    [
      ['webhook', shop.facts.accountId],
      ['webhook', shop.facts.accountId],
      ['webhook', shop.second.accountId],
      ['subscription', undefined],
      ['listener', shop.facts.accountId],
    ],
  )
  assert.ok((await list('')).content.every((item) => item.kind === undefined))
})

test('an account narrows to what gets its payments: its own endpoints, and every subscription', async () => {
  assert.equal(await names('kind=any', inFirst), 'b a all till')
  assert.equal(await names('kind=any', inSecond), 'c all')
  assert.equal(await names('kind=any&sort=-createdAt', inSecond), 'all c')
  for (const sort of ['createdAt', 'endpointUrl']) {
    assert.equal(await names(`kind=subscription&sort=${sort}`, inSecond), 'all', sort)
    assert.equal(await names(`sort=${sort}`, inSecond), 'c', sort)
  }
})

test('those that fail, with why: in the words of its owner, without what the operator alone may know', async () => {
  const { content, totalElements } = await list('failing=true&health=true')
  assert.equal(namesOf(content), 'b')
  assert.equal(totalElements, 1)
  assert.equal(content[0]?.health?.failingSince, '2026-01-01T00:00:00.000Z')
  const one = await shop.caller.getWebhook(shop.webhooks.b as string)
  assert.deepEqual(content[0]?.health, ((await one.json()) as Listed).health)
  assert.equal(await names('failing=false'), 'a c')
  assert.equal(await names('kind=any&failing=false'), 'a c all till')
  assert.ok((await list('failing=true')).content.every(({ health }) => health === undefined))
})

test('words, an id, a status and each order', async () => {
  assert.equal(await names('q=shop'), 'b a')
  assert.equal(await names('q=shop&kind=any'), 'b a all')
  assert.equal(await names('q=led'), 'c')
  assert.equal(await names(`q=${shop.webhooks.a}`), 'a')
  assert.equal(await names(`kind=any&q=${shop.listener.toUpperCase()}`), 'till')
  assert.equal(await names('kind=any&status=PAUSED'), 'till', 'no one listens')
  assert.equal(await names('status=ACTIVE&sort=-createdAt'), 'c a b')
  assert.equal(await names('sort=endpointUrl'), 'c a b')
  assert.equal(await names('sort=-endpointUrl'), 'b a c')
  assert.equal((await names('sort=failingSince')).charAt(0), 'b')
  assert.equal((await names('sort=-failingSince&kind=any')).charAt(0), 'b')
})

test('pages, joined, are the list, in each order', async () => {
  for (const sort of ['createdAt', '-createdAt', 'endpointUrl', '-endpointUrl', 'failingSince']) {
    const whole = await list(`kind=any&sort=${sort}&health=true`)
    assert.equal(whole.totalElements, 5)
    const pages = []
    for (const page of [0, 1, 2, 3]) {
      const { content, totalPages } = await list(
        `kind=any&sort=${sort}&health=true&page=${page}&size=2`,
      )
      assert.equal(totalPages, 3)
      pages.push(...content)
    }
    assert.deepEqual(pages, whole.content, sort)
    assert.ok(whole.content.every(({ health }) => health?.pending === 0))
  }
})

test('no filter shows another client’s endpoint', async () => {
  const theirs = new Set([
    ...Object.values(stranger.webhooks),
    stranger.subscription,
    stranger.listener,
  ])
  for (const query of [
    'kind=any',
    'kind=any&q=shop',
    'kind=any&failing=true',
    'kind=any&sort=endpointUrl&size=100',
    ...[...theirs].map((id) => `kind=any&q=${id}`),
  ]) {
    for (const { id } of (await list(query)).content) assert.ok(!theirs.has(id), query)
  }
  const foreign = await fetch(`${paybell.baseUrl}/v1/webhooks?kind=any`, {
    headers: { ...headers, accountid: stranger.facts.accountId },
  })
  assert.equal(foreign.status, 403)
})

test('what is no kind, order or length, and what is misspelt, is a 400; /list takes pages alone', async () => {
  for (const query of [
    'kind=notice',
    'kind=client-notice',
    'kind=',
    'kind=any&kind=webhook',
    'sort=url',
    'status=BROKEN',
    'failing=maybe',
    'health=1',
    `q=${'a'.repeat(1_000)}`,
    'q=%00',
    'clientId=00000000-0000-0000-0000-000000000000',
    'Kind=any',
  ]) {
    const answer = await fetch(`${paybell.baseUrl}/v1/webhooks?${query}`, { headers })
    assert.equal(answer.status, 400, query)
  }
  const answer = await shop.caller.get('/v1/webhooks/list?failings=true&kind=any')
  assert.equal(((await answer.json()) as { content: Listed[] }).content.length, 2)
})

test('lists of one kind stay as they were', async () => {
  const contentOf = async (path: string) =>
    ((await (await shop.caller.get(path)).json()) as { content: Listed[] }).content
  const [subscription] = await contentOf('/api/v1/payments/subscriptions')
  assert.equal(subscription?.id, shop.subscription)
  assert.equal(subscription?.kind, undefined)
  const [listener] = await contentOf('/v1/listeners')
  assert.deepEqual([listener?.id, listener?.name], [shop.listener, 'till'])
})

test('paybell webhooks list shows those that fail, and every kind', async () => {
  const env = {
    PAYBELL_URL: paybell.baseUrl,
    PAYBELL_CLIENT_ID: shop.facts.clientId,
    PAYBELL_CLIENT_SECRET: shop.facts.clientSecret,
    PAYBELL_ACCOUNT_ID: shop.facts.accountId,
  }
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await callCommand(['webhooks', 'list', ...args], { env })
    assert.equal(code, 0, stderr)
    return stdout
  }
  const failing = await run('--failing')
  assert.match(failing, /WEBHOOK +STATUS +PENDING +OK 24H +FAILING SINCE/)
  assert.match(failing, /2026-01-01.*shop\.example\.com\/b/)
  assert.doesNotMatch(failing, /com\/a/)
  const any = await run('--kind', 'any', '--sort', 'endpointUrl')
  assert.match(any, /ENDPOINT +KIND +STATUS/)
  assert.match(any, /subscription/)
  assert.match(any, /listener:till/)
  const found = JSON.parse(await run('--search', 'shop', '--health', '--json'))
  assert.deepEqual(
    found.content.map((item: Listed) => item.health?.pending),
    [0, 0],
  )
  assert.match(
    (await callCommand(['webhooks', 'list', '--status', 'DISABLED'], { env })).stderr,
    /No endpoint matches\./,
  )
})
