// kill -9, of the service and then of its database (F1, F2, F4): what was acknowledged arrives, in order, and what
// arrives twice says so by its webhook-id.

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { limitOf } from '../support/busy-machine.ts'
import { Caller } from '../support/caller.ts'
import { until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { isRunning, readPostmasterPid } from '../support/postmaster.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Sandbox, startSandbox } from '../support/sandbox.ts'

/** Writes until it is stopped; repeats a write until it is acknowledged, and notes which were. */
class Writer {
  readonly #caller: Caller
  /** By payment: its highest acknowledged sequence. */
  readonly acknowledged = new Map<string, number>()
  readonly refusals: { status: number; retryAfter: string | null }[] = []
  isStopped = false

  constructor(t: TestContext, caller: Caller) {
    this.#caller = caller
    t.after(() => {
      this.isStopped = true
    })
  }

  /** `pauseMs`: between two updates of all, where the load is not what is looked at. */
  async write(ids: readonly string[], updates: number, pauseMs = 0): Promise<void> {
    for (let n = 1; n <= updates && !this.isStopped; n++) {
      await Promise.all(ids.map((id) => this.#put(id, n)))
      if (pauseMs > 0) await delay(pauseMs)
    }
  }

  async #put(id: string, n: number): Promise<void> {
    const body = sampleBody({ id, version: n, document: undefined, reference: `${n}` })
    while (!this.isStopped) {
      const answer = await this.#caller.putPayment(id, body).catch(() => null)
      if (answer?.ok) {
        this.acknowledged.set(id, n)
        return
      }
      if (answer) {
        const retryAfter = answer.headers.get('retry-after')
        this.refusals.push({ status: answer.status, retryAfter })
      }
      // The service is away: ask again in a moment.
      await delay(50)
    }
  }
}

/** I3, I5, I6, I7: everything acknowledged was accepted, first 200s rise, one body per webhook-id. */
function assertAllArrived(receiver: Receiver, acknowledged: ReadonlyMap<string, number>): number {
  const firsts = new Map<string, number[]>()
  const bodies = new Map<string, string>()
  let duplicates = 0
  for (const { headers, body } of receiver.accepted) {
    const { id } = JSON.parse(body.toString()) as { id: string }
    const sequence = Number(headers['x-paybell-sequence'])
    const webhookId = String(headers['webhook-id'])
    const hash = createHash('sha256').update(body).digest('hex')
    if (bodies.has(webhookId)) {
      duplicates++
      assert.equal(bodies.get(webhookId), hash)
      continue
    }
    bodies.set(webhookId, hash)
    const sequences = firsts.get(id) ?? []
    sequences.push(sequence)
    firsts.set(id, sequences)
  }
  for (const [id, last] of acknowledged) {
    const expected = Array.from({ length: last }, (_, index) => index + 1)
    assert.deepEqual(firsts.get(id)?.slice(0, last), expected)
  }
  return duplicates
}

/** More may arrive than was acknowledged: the last write before a kill has no answer. */
async function untilAllArrived(
  receiver: Receiver,
  acknowledged: ReadonlyMap<string, number>,
): Promise<void> {
  const latest = new Map<string, number>()
  // Asked at every callback that arrives: each is parsed once.
  const parsed = new Set<Received>()
  await receiver.hasSeen(({ accepted }) => {
    for (const one of accepted.filter((one) => !parsed.has(one))) {
      const { id } = JSON.parse(one.body.toString())
      const sequence = Number(one.headers['x-paybell-sequence'])
      latest.set(id, Math.max(latest.get(id) ?? 0, sequence))
      parsed.add(one)
    }
    return [...acknowledged].every(([id, sequence]) => (latest.get(id) ?? 0) >= sequence)
  })
}

/** Of a delivery that has ended, as soon as its callback hangs. */
async function replayOne(caller: Caller, receiver: Receiver): Promise<void> {
  const id = randomUUID()
  await caller.putSample(id, { document: undefined })
  const delivery = await until('it has ended', async () => {
    const answer = await caller.get('/v1/deliveries?state=DELIVERED')
    return ((await answer.json()) as { items: { id: string }[] }).items[0]
  })
  assert.equal((await caller.call('POST', `/v1/deliveries/${delivery.id}/replay`)).status, 202)
  await receiver.hasSeen(({ received }) => received.some(isReplay))
}

function isReplay({ headers }: Received): boolean {
  return headers['x-paybell-replay'] === 'true'
}

test('killed in the middle of deliveries, and then without its database', async (t) => {
  const receiver = await startReceiver(t)
  const first = await startSandbox(t)
  const { dataDir } = first
  let second: Sandbox

  await t.test(
    'F1, F2: started again, nothing is lost, order holds, duplicates have the same id',
    async () => {
      const caller = new Caller(first)
      await caller.register(receiver.url('/one'), 'key')
      let isKilled = false
      // Answers are late: at the time of the kill many attempts are in flight, or answered and unrecorded.
      receiver.answer = (received, response) => {
        if (isReplay(received) && !isKilled) return 'hang'
        setTimeout(() => response.end(), 20)
        return undefined
      }
      await replayOne(caller, receiver)
      const writer = new Writer(t, caller)
      const ids = Array.from({ length: 30 }, () => randomUUID() as string)
      const writing = writer.write(ids, 20)
      await receiver.hasSeen(({ received }) => received.length >= 60)
      const postmaster = (await readPostmasterPid(dataDir)) ?? assert.fail()
      assert.equal(await first.kill('SIGKILL'), 'SIGKILL')
      isKilled = true
      writer.isStopped = true
      await writing
      const seen = receiver.received.length

      second = await startSandbox(t, { dataDir })
      const startedAt = performance.now()
      assert.equal(second.clientSecret, first.clientSecret)
      await receiver.hasSeen(({ received }) => received.length > seen)
      assert.ok(
        performance.now() - startedAt < limitOf(20_000),
        'no lease of the dead one is waited for',
      )
      await untilAllArrived(receiver, writer.acknowledged)
      const duplicates = assertAllArrived(receiver, writer.acknowledged)
      assert.ok(
        duplicates <= ids.length + 1,
        `at most one per payment in flight, the replay included: ${duplicates}`,
      )
      await receiver.hasSeen(({ accepted }) => accepted.some(isReplay))
      await until(
        'the database of the one that was killed is gone, or is the one in use',
        async () => !isRunning(postmaster) || (await readPostmasterPid(dataDir)) === postmaster,
      )
    },
  )

  await t.test(
    'F4: the database is killed: 503 with Retry-After, /readyz says why, and all goes on without a restart',
    async () => {
      const caller = new Caller(second)
      receiver.answer = 200
      const writer = new Writer(t, caller)
      const ids = Array.from({ length: 10 }, () => randomUUID() as string)
      const before = receiver.received.length
      const writing = writer.write(ids, 10_000, 50)
      await receiver.hasSeen(({ received }) => received.length >= before + 30)

      const postmaster = (await readPostmasterPid(dataDir)) ?? assert.fail()
      process.kill(postmaster, 'SIGKILL')
      const notReady = await until('not ready', async () => {
        const answer = await fetch(`${second.baseUrl}/readyz`)
        return answer.status === 503 && ((await answer.json()) as Record<string, unknown>)
      })
      assert.equal(notReady.code, 'not-ready')
      assert.match(String(notReady.reasons), /database/)
      assert.equal((await fetch(`${second.baseUrl}/livez`)).status, 200)

      await until(
        'ready again',
        async () => (await fetch(`${second.baseUrl}/readyz`)).status === 200,
      )
      const backAt = receiver.received.length
      await receiver.hasSeen(({ received }) => received.length >= backAt + 30)
      writer.isStopped = true
      await writing
      await untilAllArrived(receiver, writer.acknowledged)
      assertAllArrived(receiver, writer.acknowledged)

      assert.ok(writer.refusals.length > 0)
      for (const { status, retryAfter } of writer.refusals) {
        assert.equal(status, 503)
        assert.match(String(retryAfter), /^\d+$/)
      }
      const next = (await readPostmasterPid(dataDir)) ?? assert.fail()
      assert.notEqual(next, postmaster)
      assert.equal(await second.kill('SIGINT'), 0)
      assert.ok(!isRunning(next))
    },
  )
})
