// `paybell check` from the caller's own machine: no service, no database; and through a service.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toNodeHandler } from '../../sdk/src/adapters.ts'
import { createReceiver } from '../../sdk/src/receiving/receiver.ts'
import type { CheckReport } from '../../server/core/checking/receiver-check.ts'
import { callCommand } from '../support/called-command.ts'
import { startCheckedReceiver } from '../support/checked-receiver.ts'
import { startPaybell } from '../support/paybell.ts'

const KEY = 'only-we-two-know-this'
const env = { PAYBELL_SHARED_KEY: KEY }

test("the SDK's own receiver passes every step", async (t) => {
  const receiver = createReceiver({ sharedKey: KEY, onPayment: () => {}, onRefused: () => {} })
  const server = createServer(toNodeHandler(receiver) as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://localhost:${port}/hook`
  const ran = await callCommand(['check', url, '--json'], { env })
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  const report: CheckReport = JSON.parse(ran.stdout)
  assert.deepEqual(
    report.steps.filter(({ result }) => result !== 'pass'),
    [],
  )
  assert.equal(report.url, url)
})

test('a receiver that looks for the HMAC under a name of its own is checked under that name', async (t) => {
  const name = 'X-Acme-Signature'
  const options = { sharedKey: KEY, hmacHeaderName: name, onPayment: () => {}, onRefused: () => {} }
  const receiver = createReceiver({ ...options, dialect: 'hmac' })
  const server = createServer(toNodeHandler(receiver) as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://localhost:${(server.address() as AddressInfo).port}/hook`
  const [right, wrong, refused] = await Promise.all([
    callCommand(['check', url, '--hmac-header-name', name, '--json'], { env }),
    callCommand(['check', url, '--json'], { env }),
    callCommand(['check', url, '--hmac-header-name', 'X-Paybell-Event'], { env }),
  ])
  const stepsOf = ({ stdout }: typeof right) => (JSON.parse(stdout) as CheckReport).steps
  assert.equal(stepsOf(right)[0]?.result, 'pass')
  assert.equal(stepsOf(wrong)[0]?.result, 'fail')
  assert.equal(refused?.code, 2)
  assert.match(refused?.stderr ?? '', /choose another name/)
})

test('a fault ends with 1, and is shown in the terminal and on a page', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-check-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const receiver = await startCheckedReceiver(t, KEY)
  const html = join(dir, 'report.html')
  const url = receiver.url('takes-stale-timestamps')
  const ran = await callCommand(['check', url, '--shared-key', KEY, '--html', html])
  assert.equal(ran.code, 1)
  assert.match(ran.stdout, /✖ A callback that is an hour old is refused\n {4}It answered 200\./)
  assert.match(ran.stdout, /What to do: Check webhook-signature/)
  assert.match(ran.stdout, /10 passed, 1 failed, 0 warnings/)
  assert.ok(!ran.stdout.includes(KEY))
  assert.match(await readFile(html, 'utf8'), /Failed: A callback that is an hour old is refused/)
})

test('wrong usage ends with 2: no key, no address, one that cannot be called', async () => {
  const url = 'https://receiver.test/hook'
  const runs = await Promise.all([
    callCommand(['check', url]),
    callCommand(['check'], { env }),
    callCommand(['check', 'http://receiver.test/hook'], { env }),
  ])
  assert.deepEqual(
    runs.map(({ code }) => code),
    [2, 2, 2],
  )
  assert.match(runs[0]?.stderr ?? '', /no shared key/)
  assert.match(runs[1]?.stderr ?? '', /--webhook ID/)
  assert.match(runs[2]?.stderr ?? '', /https/)
})

test('--webhook lets the service drive the receiver', async (t) => {
  const paybell = await startPaybell(t)
  const receiver = await startCheckedReceiver(t, KEY)
  const webhookId = await paybell.caller.addWebhook(receiver.url('answers-204'), KEY)
  const ran = await callCommand(['check', '--webhook', webhookId], {
    env: {
      PAYBELL_URL: paybell.baseUrl,
      PAYBELL_CLIENT_ID: paybell.clientId,
      PAYBELL_CLIENT_SECRET: paybell.clientSecret,
    },
  })
  assert.equal(ran.code, 1, ran.stderr)
  assert.match(ran.stdout, /✖ A valid callback is answered with 200\n {4}It answered 204\./)
  assert.match(ran.stdout, /Answer exactly 200/)
})
