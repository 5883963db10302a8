// How long large bodies hold the loop: eight payments with a file of 10 MiB at once, or ten such callbacks for
// the signature doctor (`verify`), sent by a process of their own. Prints the delays of the loop and, because
// those say more about a busy machine than about the service, the CPU time of its longest iterations.
//   node test/measure/large-bodies.ts [verify]

import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { startPaybell } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'

const FILE_BYTES = 10 * 1_024 * 1_024
const ROUNDS = 3

interface Order {
  url: string
  method: 'PUT' | 'POST'
  headers: Record<string, string>
  count: number
}

if (process.argv[2] === 'sender') process.on('message', (order) => void send(order as Order))
else await measure(process.argv[2] === 'verify')

async function send({ url, method, headers, count }: Order): Promise<void> {
  const { id: _, version: __, ...payment } = SAMPLE
  const bodies = Array.from({ length: count }, () => {
    const base64EncodedFile = randomBytes(FILE_BYTES).toString('base64')
    const body = JSON.stringify({
      ...payment,
      document: { ...payment.document, base64EncodedFile },
    })
    const signed = { 'x-paybell-hmac': 'ab'.repeat(32) }
    return method === 'PUT' ? body : JSON.stringify({ headers: signed, body })
  })
  process.send?.('begun')
  const answers = bodies.map(async (body) => {
    const to = method === 'PUT' ? `${url}/${randomUUID()}` : url
    return (await fetch(to, { method, headers, body })).status
  })
  process.send?.(await Promise.all(answers))
}

async function measure(isVerify: boolean): Promise<void> {
  const ends: (() => unknown)[] = []
  const paybell = await startPaybell({ after: (end) => void ends.push(end) })
  await paybell.caller.register('http://127.0.0.1:1/nobody', 'a key of the tests')
  const list = await paybell.caller.get('/v1/webhooks/list')
  const { content } = (await list.json()) as { content: { id: string }[] }
  const order: Order = isVerify
    ? {
        url: `${paybell.baseUrl}/v1/webhooks/${content[0]?.id}/verify`,
        method: 'POST',
        headers: { ...(await paybell.caller.headers()), 'content-type': 'application/json' },
        count: 10,
      }
    : {
        url: `${paybell.baseUrl}/operator/v1/payments`,
        method: 'PUT',
        headers: {
          authorization: `Bearer ${paybell.operatorKey}`,
          accountid: paybell.accountId,
          'content-type': 'application/json',
        },
        count: 8,
      }
  const sender = fork(new URL(import.meta.url), ['sender'])
  const heard = () => new Promise<unknown>((resolve) => sender.once('message', resolve))
  for (let round = 1; round <= ROUNDS; round++) {
    const begun = heard()
    sender.send(order)
    await begun
    console.log(`round ${round}:`, await watchLoop(heard()))
  }
  sender.kill()
  for (const end of ends.toReversed()) await end()
}

async function watchLoop(until: Promise<unknown>): Promise<object> {
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  const iterations: number[] = []
  let [isOver, beganMs] = [false, cpuMs()]
  const tick = () => {
    const nowMs = cpuMs()
    iterations.push(nowMs - beganMs)
    beganMs = nowMs
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  const statuses = await until
  await delay(200)
  isOver = true
  delays.disable()
  return {
    statuses: [statuses].flat().join(' '),
    delayMs: { max: delays.max / 1e6, p99: delays.percentile(99) / 1e6 },
    longestIterationsCpuMs: iterations
      .sort((a, b) => b - a)
      .slice(0, 5)
      .map(Math.round),
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
