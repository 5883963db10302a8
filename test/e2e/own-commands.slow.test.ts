// What an integrator does from a terminal once it has signed in: its own endpoints, payments, deliveries and events,
// with no settings but a profile.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { startPaybell, untilAllAre } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const dir = await mkdtemp(join(tmpdir(), 'paybell-own-'))
after(() => rm(dir, { recursive: true, force: true }))
const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const env = { XDG_CONFIG_HOME: dir, PAYBELL_DATA_DIR: join(dir, 'nothing') }

const run = (args: readonly string[], input = '') => callCommand(args, { env, input })

async function json(...args: string[]) {
  const { code, stdout, stderr } = await run([...args, '--json'])
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const LOGIN = ['login', '--url', paybell.baseUrl, '--client-id', paybell.clientId]

test('a wrong secret is refused and not kept; the right one is, and is not shown', async () => {
  const refused = await run(LOGIN, 'wrong\n')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /401/)
  assert.deepEqual(await json('profiles', 'list'), [])
  assert.equal((await run(LOGIN, '')).code, 2)

  const done = await run([...LOGIN, '--account', paybell.accountId], `${paybell.clientSecret}\n`)
  assert.equal(done.stdout, `Signed in to ${paybell.baseUrl} as the client ${paybell.clientId}.\n`)
  const ops = ['login', 'ops', '--url', paybell.baseUrl, '--operator']
  assert.equal((await run(ops, paybell.operatorKey)).code, 0)
  const list = await run(['profiles', 'list'])
  assert.match(list.stdout, /^default .* the client .* by default$/m)
  assert.match(list.stdout, /^ops .* an operator /m)
  assert.ok(!list.stdout.includes(paybell.clientSecret))
  const clients = await run(['clients', 'list', '--profile', 'ops'])
  assert.equal(clients.code, 0, clients.stderr)
})

test('a subscription is made, tested, paused, resumed and deleted', async () => {
  const url = receiver.url('/all')
  const header = ['--header', 'X-Env: test']
  const made = await json('subscriptions', 'create', url, '--generate-key', ...header)
  assert.equal(made.sharedKey.length, 43)
  assert.equal((await json('subscriptions', 'test', made.id)).delivered, true)
  assert.equal(receiver.received.at(-1)?.headers['x-env'], 'test')
  const paused = await run(['subscriptions', 'pause', made.id])
  assert.match(paused.stdout, / is paused: /)
  assert.match(
    (await run(['subscriptions', 'list'])).stdout,
    new RegExp(`^${made.id} +PAUSED `, 'm'),
  )
  assert.equal((await json('subscriptions', 'resume', made.id)).status, 'ACTIVE')
  const shown = await run(['subscriptions', 'show', made.id])
  assert.match(shown.stdout, /^Circuit +CLOSED$/m)

  await json('trigger', '--profile', 'ops', '--state', 'DRAFT', '--account', paybell.accountId)
  await untilAllAre(paybell.pool, ['DELIVERED'])
  assert.equal((await run(['subscriptions', 'delete', made.id])).code, 0)
})

test('notices: an address is set, listed, moved and deleted', async () => {
  const none = await run(['notices', 'list'])
  assert.equal(none.code, 1)
  assert.match(none.stderr, /no address for notices. Set one: paybell notices set/)
  const made = await json('notices', 'set', receiver.url('/notices'), '--generate-key')
  assert.deepEqual(
    [made.callbackUrl, made.status, made.sharedKey.length],
    [receiver.url('/notices'), 'ACTIVE', 43],
  )
  const moved = await run(['notices', 'set', receiver.url('/moved'), '--shared-key', 'another key'])
  assert.match(moved.stdout, /^Address +http.*\/moved$/m)
  assert.doesNotMatch(moved.stdout, /Shared key|another key/)
  const listed = await run(['notices', 'list'])
  assert.equal(listed.code, 0)
  assert.match(listed.stderr, /They go to http.*\/moved \(ACTIVE\)\.\nNo notices yet\./)
  assert.equal((await json('notices', 'delete')).deleted, true)
  assert.equal((await run(['notices', 'delete'])).code, 1)
})

test('payments, deliveries and events are its own, the amount digit for digit', async () => {
  const { items } = await json('deliveries', 'list')
  assert.equal(items.length, 1)
  const { paymentId, eventId, externalId } = items[0]
  const shown = await run(['payments', 'show', paymentId])
  assert.match(shown.stdout, /^State +DRAFT$/m)
  const replayed = await run(['deliveries', 'replay', items[0].id])
  assert.match(replayed.stderr, /endpoint-deleted/)

  assert.match(
    (await run(['events', 'list'])).stdout,
    new RegExp(`^${eventId} +payment.created `, 'm'),
  )
  const followed = await json('events', 'follow', '--count', '1')
  assert.equal(followed.id, eventId)
  const body = await run(['events', 'body', eventId])
  assert.equal(body.stdout, receiver.received.at(-1)?.body.toString())

  const opened = await run(['open', externalId, '--print'])
  assert.equal(opened.stdout, `${paybell.baseUrl}/console/payments/${paymentId}\n`)
})

test('what is forgotten is gone', async () => {
  assert.equal((await run(['logout'])).code, 0)
  const none = await run(['deliveries', 'list'])
  assert.equal(none.code, 2)
  assert.match(none.stderr, /paybell login/)
})
