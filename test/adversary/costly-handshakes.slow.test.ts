// Receivers that a client chose so that their handshakes hold the loop: no stretch of it is longer than 50 ms, and others
// do not notice. Held in CPU time of this thread; the receivers and who calls are in threads of their own.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../support/caller.ts'
import { FarClient } from '../support/far-client.ts'
import { issue, newKey } from '../support/issue-certificate.ts'
import { isTooLong, longestHoldMs } from '../support/longest-hold.ts'
import { addClient, startPaybell } from '../support/paybell.ts'
import {
  type CostlyReceiver,
  chainUnder,
  costlyKey,
  groupOf,
  startCostly,
} from './costly-receivers.ts'

const KEY = 'a key of some length'
const V12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
const NO_TICKETS = { secureOptions: 0x4000 }
/** To sample another client's call: enough for its median. */
const CALLS = 31
const ROUNDS = 10
const ATTACK_EVERY_MS = 100

const costly = costlyKey()
const rsa = newKey(2_048)
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey
const usual = chainUnder(rsa, 2, { key: rsa })
const names = Array.from({ length: 800 }, (_, n) => `r${n}.example.test`)
/** The most costly that pass: 9 ms by the table, and a long list of names. */
const worst = chainUnder(p384, 5, { key: p384, names })
const fewer = chainUnder(p521, 4, { key: p521 })
const many = Array(2_500).fill(issue({ subject: 'CN=a', isAuthority: true }).pem)
const long = chainUnder(costly, 70).options
const short = chainUnder(costly, 11).options
const dhe = (bits: number) => ({
  ...usual.options,
  ...V12,
  ciphers: 'DHE-RSA-AES128-GCM-SHA256',
  dhparam: groupOf(bits),
})

const RECEIVERS: readonly (CostlyReceiver & { means: string })[] = [
  { name: '70 certificates, TLS 1.2', options: { ...long, ...V12 }, means: 'tls-too-costly' },
  { name: '70 certificates, TLS 1.3', options: long, means: 'tls-too-costly' },
  { name: '11 certificates, TLS 1.2', options: { ...short, ...V12 }, means: 'tls-too-costly' },
  { name: '11 certificates, TLS 1.3', options: short, means: 'tls-too-costly' },
  { name: '70 after a retry', options: { ...long, ecdhCurve: 'P-521' }, means: 'tls-too-costly' },
  {
    name: 'the most that passes, TLS 1.2',
    options: { ...worst.options, ...V12 },
    means: '"delivered":true',
  },
  { name: 'the most that passes, TLS 1.3', options: worst.options, means: '"delivered":true' },
  { name: 'four under P-521', options: fewer.options, means: '"delivered":true' },
  {
    name: 'a list of 2,500 authorities',
    options: { ...usual.options, requestCert: true, rejectUnauthorized: false, ca: many },
    means: '"delivered":true',
  },
  { name: 'a group of 8,192 bits', options: dhe(8_192), means: 'tls-error' },
  {
    name: 'a second handshake with 70',
    options: { ...usual.options, ...V12, ...NO_TICKETS },
    later: long,
    means: '"delivered":false',
  },
]

const t = { after }
const paybell = await startPaybell(t, { env: { PAYBELL_REQUESTS_PER_SECOND: '10000' } })
const attacker = new Caller(paybell)
const other = new Caller(await addClient(paybell))
const far = new FarClient(t)
const started = await startCostly(t, RECEIVERS)
const otherHeaders = await other.headers()
const attackerHeaders = await attacker.headers()
const webhooks = new Map<string, string>()
for (const { name, port } of started) {
  const url = `https://127.0.0.1:${port}/hook`
  const tls = { certificateAuthorities: rootOf(name).pem }
  webhooks.set(name, await attacker.addWebhook(url, KEY, { tls }))
}

/** Of those that pass: then no circuit opens. A costly one is no authority that can be named. */
function rootOf(name: string) {
  if (name.startsWith('the most')) return worst.root
  return name.startsWith('four') ? fewer.root : usual.root
}

/** One test send, from another thread. */
async function send(name: string): Promise<string> {
  const url = `${paybell.baseUrl}/v1/webhooks/${webhooks.get(name)}/test`
  const { status, text } = await far.ask({ method: 'POST', url, headers: attackerHeaders })
  assert.equal(status, 200, text)
  return text
}

for (const { name, means } of RECEIVERS) {
  test(`regression: no handshake holds the loop: ${name}`, async (t) => {
    let said = ''
    const longestMs = await longestHoldMs(async () => {
      said = await send(name)
    })
    t.diagnostic(`${longestMs.toFixed(1)} ms ${said}`)
    assert.ok(!isTooLong(longestMs), `${longestMs} ms ${said}`)
    assert.match(said, new RegExp(means))
  })
}

/** How long a call takes; of some the median. */
async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < CALLS; n += 1) {
    const before = performance.now()
    await work()
    times.push(performance.now() - before)
  }
  return times.toSorted((a, b) => a - b)[CALLS >> 1] ?? 0
}

/** Test sends to all that are refused, ten a second, until it is ended: one a second was enough before. */
function attack() {
  const names = RECEIVERS.filter(({ means }) => means === 'tls-too-costly').map(({ name }) => name)
  let isOver = false
  const pace = async () => {
    for (let n = 0; !isOver; n += 1) {
      await send(names[n % names.length] ?? '')
      await new Promise((resolve) => setTimeout(resolve, ATTACK_EVERY_MS))
    }
  }
  const running = pace()
  return async () => {
    isOver = true
    await running
  }
}

for (const path of ['/livez', '/v1/webhooks']) {
  test(`regression: who asks for ${path} waits no longer while such receivers are called`, async (t) => {
    const caller = new FarClient(t)
    const call = async () => {
      const request = { method: 'GET', url: paybell.baseUrl + path, headers: otherHeaders }
      const { status, text } = await caller.ask(request)
      assert.equal(status, 200, text)
    }
    await median(call)
    let said = ''
    // What else runs on the machine disturbs some of the rounds, and never only the second half of each.
    for (let round = 0; round < ROUNDS; round += 1) {
      const quietMs = await median(call)
      const end = attack()
      const busyMs = await median(call)
      await end()
      said = `${quietMs.toFixed(1)} ms, beside the handshakes ${busyMs.toFixed(1)} ms`
      t.diagnostic(said)
      if (busyMs <= 2 * quietMs) return
    }
    assert.fail(said)
  })
}
