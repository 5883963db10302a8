// What an endpoint was never owed: from before it was registered, or of a kind that it did not get. Made once, oldest
// first, marked as a replay, for the payments that are the endpoint's and for no others.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Caller, toAnswer } from '../support/caller.ts'
import { addAccount, addClient, type Paybell, startPaybell } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const SINCE = new Date(Date.now() - 3_600_000).toISOString()

async function put(caller: Caller, id: string, state: string): Promise<void> {
  await caller.update(id, { document: undefined, status: { state } })
}

async function webhookOf(caller: Caller): Promise<string> {
  return (await caller.webhooks())[0]?.id ?? assert.fail()
}

async function ask(caller: Caller, id: string, body: object, query = '') {
  return toAnswer(await caller.postToWebhook(id, `replay-missing${query}`, body))
}

async function prepared(t: Parameters<typeof startReceiver>[0]): Promise<Paybell> {
  return startPaybell(t)
}

// They mostly wait: side by side they take as long as the longest.
describe('replay-missing', { concurrency: true }, () => {
  test('an endpoint that is new gets what was before it, once, oldest first and marked', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await prepared(t)
    const { caller } = paybell
    const id = randomUUID()
    for (const state of ['DRAFT', 'DUE', 'PAID']) await put(caller, id, state)
    // Of another account, and of another client: not this endpoint's payments.
    await put(new Caller(await addAccount(paybell, paybell)), randomUUID(), 'DUE')
    await put(new Caller(await addClient(paybell)), randomUUID(), 'DUE')
    await caller.register(receiver.url(), 'key')
    const webhook = await webhookOf(caller)

    const trial = await ask(caller, webhook, { since: SINCE }, '?dryRun=true')
    assert.deepEqual(trial, { status: 200, body: { wouldQueue: 3 } })
    assert.equal(receiver.received.length, 0)
    const asked = await Promise.all([1, 2].map(() => ask(caller, webhook, { since: SINCE })))
    assert.deepEqual(
      asked.map(({ status }) => status),
      [202, 202],
    )
    assert.equal(
      asked.reduce((sum, { body }) => sum + Number(body.queued), 0),
      3,
      'of two that ask at once, each event is queued by one',
    )
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)
    assert.deepEqual(receiver.sequences(), [1, 2, 3])
    for (const { headers } of receiver.received) assert.equal(headers['x-paybell-replay'], 'true')

    // What comes now is owed as ever, and nothing is missing any more.
    await put(caller, randomUUID(), 'DUE')
    await receiver.hasSeen(({ accepted }) => accepted.length === 4)
    assert.equal(receiver.accepted[3]?.headers['x-paybell-replay'], undefined)
    assert.deepEqual((await ask(caller, webhook, { since: SINCE })).body, { queued: 0 })
    assert.equal(receiver.received.length, 4)
  })

  test('what is missing can be narrowed by kind and by time, and a subscription gets all accounts', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await prepared(t)
    const { caller } = paybell
    const id = randomUUID()
    for (const state of ['DRAFT', 'DUE', 'PAID']) await put(caller, id, state)
    await put(new Caller(await addAccount(paybell, paybell)), randomUUID(), 'DUE')
    const subscription = await caller.addSubscription(receiver.url(), 'key')
    // AccountId narrows; the endpoint itself belongs to all accounts.
    const asClient = async (body: object, isNarrow: boolean) => {
      const { accountid, ...headers } = await caller.headers()
      const answer = await fetch(
        `${paybell.baseUrl}/api/v1/payments/subscriptions/${subscription}/replay-missing?dryRun=true`,
        {
          method: 'POST',
          headers: {
            ...headers,
            ...(isNarrow ? { accountid: accountid as string } : {}),
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
        },
      )
      return ((await answer.json()) as { wouldQueue: number }).wouldQueue
    }
    assert.equal(await asClient({ since: SINCE }, false), 4)
    assert.equal(await asClient({ since: SINCE }, true), 3)
    assert.equal(await asClient({ since: SINCE, events: ['payment.*'] }, false), 4)
    assert.equal(await asClient({ since: SINCE, events: ['payment.paid', 'payment.due'] }, true), 2)
    assert.equal(await asClient({ since: new Date(Date.now() + 60_000).toISOString() }, false), 0)
    assert.equal(await asClient({ since: '2020-01-01T00:00:00Z', until: SINCE }, false), 0)
  })

  test('bad input is a 400 that names the member, and another tenant’s endpoint a 404', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await prepared(t)
    const { caller } = paybell
    await caller.register(receiver.url(), 'key')
    const webhook = await webhookOf(caller)
    for (const [body, pointer] of [
      [{}, '/since'],
      [{ since: 'yesterday' }, '/since'],
      [{ since: SINCE, until: SINCE }, '/until'],
      [{ since: SINCE, events: [] }, '/events'],
      [{ since: SINCE, events: ['payment.lost'] }, '/events/0'],
      [{ since: SINCE, dry_run: true }, '/dry_run'],
    ] as const) {
      const { status, body: problem } = await ask(caller, webhook, body)
      assert.equal(status, 400, pointer)
      const { errors } = problem as { errors: { pointer: string }[] }
      assert.equal(errors[0]?.pointer, pointer)
    }
    const other = new Caller(await addClient(paybell))
    assert.equal((await ask(other, webhook, { since: SINCE })).status, 404)
    assert.equal((await ask(caller, randomUUID(), { since: SINCE })).status, 404)
    await caller.deleteWebhook(webhook)
    assert.equal((await ask(caller, webhook, { since: SINCE })).status, 404)
  })
})
