// A client that moves while payments are written for it through the route: what must hold, whatever the cells are.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Caller, type SandboxFacts } from './caller.ts'
import type { Owner } from './owner.ts'
import { until } from './paybell.ts'
import { sampleBody } from './payment-sample.ts'
import { startReceiver } from './receiver.ts'

export interface MoveUnderLoad {
  /** At the address of the route. */
  facts: SandboxFacts
  move(): Promise<{ rows: number; frozenMs: number }>
}

/** Returns what happened, in figures. */
export async function moveUnderLoad(t: Owner, { facts, move }: MoveUnderLoad): Promise<string> {
  const caller = new Caller(facts)
  const receiver = await startReceiver(t)
  await caller.register(receiver.url(), 'a key')
  const payments: readonly string[] = Array.from({ length: 4 }, () => randomUUID())
  const written = new Map(payments.map((id) => [id, 0]))
  let [total, refused, longestMs, isOver] = [0, 0, 0, false]

  const write = async (id: string) => {
    const version = (written.get(id) ?? 0) + 1
    const startedAt = performance.now()
    await until('the write is accepted', async () => {
      const body = sampleBody({ id, version, reference: `number ${version}` })
      const answer = await caller.putPayment(id, body)
      if (answer.status === 503) refused++
      else assert.ok(answer.status <= 201, `${answer.status} ${await answer.text()}`)
      return answer.status <= 201
    })
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    written.set(id, version)
    total++
  }
  const load = (async () => {
    for (let n = 0; !isOver; n++) await write(payments[n % payments.length] as string)
  })()
  await until('deliveries flow', () => receiver.received.length > 10)
  const token = await caller.token()
  const { frozenMs } = await move()
  const before = total
  await until('writes go on', () => total > before + 8)
  isOver = true
  await load
  await until('all is delivered', () => receiver.received.length >= total)

  const seen = new Map<string, number[]>(payments.map((id) => [id, []]))
  for (const { headers, body } of receiver.received) {
    const { id } = JSON.parse(body.toString()) as { id: string }
    seen.get(id)?.push(Number(headers['x-paybell-sequence']))
  }
  for (const [id, count] of written) {
    const all = Array.from({ length: count }, (_, n) => n + 1)
    assert.deepEqual(seen.get(id), all, `each update of ${id} once, and in order`)
  }
  // The token of before is good in the new cell, because the cells share their keys.
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${facts.baseUrl}/v1/webhooks`, { headers, redirect: 'manual' })
  assert.equal(answer.status, 200)
  return `${total} written, ${refused} refused, frozen ${frozenMs} ms, longest wait ${Math.round(longestMs)} ms`
}
