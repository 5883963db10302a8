// The owner of the database, who has no master key, wants what is sealed in it: he turns an endpoint, or the token endpoint of
// one, to himself, and waits for the service to bring it. Against a service that runs, with a thief that listens.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, test } from 'node:test'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { Caller } from '../support/caller.ts'
import type { Owner } from '../support/owner.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'

const KEY = 'only-we-two-know-this'
const HEADER = { headerKey: 'X-Bank', headerValue: 'the header that the bank knows us by' }
const OAUTH2 = { clientId: 'paybell', clientSecret: 'the-secret-at-the-bank' }

/** Gives a token to everyone who asks, and takes every callback. */
async function listen(t: Owner) {
  const seen: { path: string; text: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const authorization = String(request.headers.authorization ?? '')
    const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()
    const text = [JSON.stringify(request.headers), basic, body].join('\n')
    seen.push({ path: request.url ?? '', text })
    const token = { access_token: 'a-token', token_type: 'Bearer', expires_in: 3_600 }
    response.setHeader('content-type', 'application/json')
    response.end(request.url?.startsWith('/token') ? JSON.stringify(token) : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { seen, url: (path: string) => `http://127.0.0.1:${port}${path}` }
}

let log: string[]
beforeEach(() => {
  log = []
})

async function start(t: Owner, more: Partial<Parameters<typeof startPaybell>[1]> = {}) {
  const [bank, thief] = [await listen(t), await listen(t)]
  const paybell = await startPaybell(t, { ...more, log: (line) => void log.push(line) })
  return { bank, thief, paybell }
}

async function addAll({ caller }: Paybell, bank: { url(path: string): string }) {
  const oauth2 = { ...OAUTH2, tokenUrl: bank.url('/token') }
  await caller.register(bank.url('/with-token'), KEY, { oauth2 })
  const { clientId, tokenUrl } = oauth2
  const asserted = { oauth2: { clientId, tokenUrl, privateKeyJwt: true } }
  await caller.register(bank.url('/with-assertion'), KEY, asserted)
  await caller.register(bank.url('/plain'), KEY)
  await caller.subscribe({ callbackUrl: bank.url('/with-header'), sharedKey: KEY, ...HEADER })
}

/** As the service would say it itself, so that every process reads it again. */
const turn = ({ pool }: Paybell, assignment: string, thief: { url(path: string): string }) =>
  pool.query(
    `update endpoints set ${assignment}, changed_at = clock_timestamp() where deleted_at is null`,
    [thief.url('/token')],
  )

async function untilRefused(paybell: Paybell, paymentId: string, endpoints: number) {
  await until('each endpoint’s delivery was attempted', async () => {
    const { rows } = await paybell.pool.query(
      `select distinct endpoint_id from pending_deliveries
       where payment_id = $1 and last_outcome = 'undecryptable-key'`,
      [paymentId],
    )
    return rows.length === endpoints
  })
}

/** The service looks for changes that were not announced to it once a second. */
async function untilReadAgain(count: number) {
  await until('the change was read', () => notOpened().size === count)
}

const notOpened = () =>
  new Set(
    log
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'endpoints.not-opened')
      .map(({ endpointId }) => endpointId as string),
  )

const IN_TURN: readonly [name: string, assignment: string, endpoints: number][] = [
  ['all addresses', 'url = $1', 4],
  [
    'all token endpoints',
    `oauth2 = case when oauth2 is not null then jsonb_set(oauth2, '{tokenUrl}', to_jsonb($1::text)) end`,
    2,
  ],
]

for (const [name, assignment, endpoints] of IN_TURN) {
  test(`regression: the owner of the database turns ${name} to himself: nothing comes, and the service says so`, async (t) => {
    const { bank, thief, paybell } = await start(t)
    await addAll(paybell, bank)
    const before = await paybell.caller.pay()
    await until(
      'all were sent',
      () => bank.seen.filter(({ path }) => path !== '/token').length === 4,
    )
    assert.ok(bank.seen.some(({ text }) => text.includes(OAUTH2.clientSecret)))
    assert.ok(bank.seen.some(({ text }) => text.includes(HEADER.headerValue)))

    await turn(paybell, assignment, thief)
    const paymentIds = [before]
    const pay = async () => paymentIds.push(await paybell.caller.pay())
    await until('the change was read', async () => {
      await pay()
      return thief.seen.length > 0 || notOpened().size === endpoints
    })
    assert.deepEqual(thief.seen, [])
    await pay()
    await untilRefused(paybell, paymentIds.at(-1) as string, endpoints)
    for (const { id } of await paybell.caller.webhooks()) {
      const answer = await paybell.caller.postToWebhook(id, 'test')
      const { error, delivered } = (await answer.json()) as { error: string; delivered: boolean }
      assert.ok(delivered || error === 'undecryptable-key', error)
      await paybell.caller.postToWebhook(id, 'check')
    }
    assert.deepEqual(thief.seen, [])
    assert.match(
      await metricsOf(paybell),
      /^paybell_endpoints_not_opened_total(?:\{[^}]*\})? [1-9]/m,
    )
  })
}

async function metricsOf({ baseUrl, operatorKey }: Paybell): Promise<string> {
  const headers = { authorization: `Bearer ${operatorKey}` }
  return (await fetch(`${baseUrl}/metrics`, { headers })).text()
}

test('what waited goes on when the client registers the address again', async (t) => {
  const { bank, thief, paybell } = await start(t)
  const { caller } = paybell
  await caller.register(bank.url('/plain'), KEY)
  await turn(paybell, 'url = $1', thief)
  const id = await caller.pay()
  await untilReadAgain(1)
  await untilRefused(paybell, id, 1)
  assert.equal((await caller.register(bank.url('/plain'), KEY)).status, 200)
  await caller.postToWebhook(await caller.webhookAt(bank.url('/plain')), 'retry')
  await until('it was delivered', () => bank.seen.some(({ text }) => text.includes(id)))
  assert.deepEqual(thief.seen, [])
})

test('with the mark taken away, or one of his own, and a row from before it was bound, he opens nothing after a restart', async (t) => {
  const first = await start(t)
  await addAll(first.paybell, first.bank)
  const webhookId = await first.paybell.caller.webhookAt(first.bank.url('/plain'))
  await first.paybell.stop()
  const { database, masterKey, operatorKey } = first.paybell
  // As the version before has sealed it: what a dump of that time has.
  const dumped = new Sealer([masterKey], { isDerived: true }).seal(Buffer.from(KEY), {
    ...{ column: 'endpoints.shared_key', row: webhookId },
  })
  for (const mark of [
    `binding = 'none', binding_authentication = null`,
    `binding = 'begun', binding_authentication = '\\x${randomBytes(36).toString('hex')}'`,
    `binding = 'none', is_derived = false`,
  ]) {
    log = []
    await database.pool.query(`update sealing set ${mark}`)
    const { paybell, thief } = await start(t, { database, masterKey, operatorKey })
    assert.ok(log.some((line) => line.includes('sealing.mark-wrong')))
    assert.match(await metricsOf(paybell), /^paybell_sealing_mark_wrong(?:\{[^}]*\})? 1$/m)
    await turn(paybell, 'url = $1', thief)
    await database.pool.query('update endpoints set shared_key = $2 where id = $1', [
      webhookId,
      dumped,
    ])
    const id = await new Caller({ ...first.paybell, baseUrl: paybell.baseUrl }).pay()
    await untilRefused(paybell, id, 4)
    assert.deepEqual(thief.seen, [])
    await paybell.stop()
  }
})
