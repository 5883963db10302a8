// Whether a rehearsal went well: what was acknowledged is recorded once and in order, and reached every endpoint
// once, in order, signed, one update of a payment at a time.

import type { Pool } from 'pg'
import type { Arrival } from './receiver.ts'

export interface Facts {
  /** By payment: how many of its updates were acknowledged. */
  acknowledged: ReadonlyMap<string, number>
  /** By payment: the references of its events, in sequence. */
  recorded: ReadonlyMap<string, readonly string[]>
  arrivals: readonly Arrival[]
  endpoints: readonly string[]
  /** A process was killed: what it had sent and not recorded is sent again, under the same id. */
  mayRepeat: boolean
}

export interface Judgement {
  faults: string[]
  /** Requests for an event that its endpoint had answered 200 before. */
  repeated: number
}

export async function readRecorded(pool: Pool): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await pool.query<{ id: string; updates: string[] }>(
    `select payment_id as id, array_agg(text::jsonb ->> 'reference' order by sequence) as updates
     from paybell.events group by payment_id`,
  )
  return new Map(rows.map(({ id, updates }) => [id, updates]))
}

export function judge(facts: Facts): Judgement {
  const faults: string[] = []
  for (const [id, updates] of facts.acknowledged) {
    const expected = countTo(updates).join()
    const found = facts.recorded.get(id)?.join() ?? 'nothing'
    if (found !== expected)
      faults.push(`payment ${id}: acknowledged ${expected}, recorded ${found}`)
  }
  for (const { endpoint, webhookId, isSigned, wasBesideAnother } of facts.arrivals) {
    if (!isSigned) faults.push(`${endpoint} ${webhookId}: the signature is wrong`)
    if (wasBesideAnother && !facts.mayRepeat) faults.push(`${endpoint} ${webhookId}: two at once`)
  }
  const strands = Map.groupBy(facts.arrivals, (one) => `${one.endpoint} ${one.paymentId}`)
  let repeated = 0
  for (const endpoint of facts.endpoints) {
    for (const [id, updates] of facts.acknowledged) {
      const judged = judgeStrand(strands.get(`${endpoint} ${id}`) ?? [], updates)
      faults.push(...judged.faults.map((fault) => `${endpoint} payment ${id}: ${fault}`))
      repeated += judged.repeated
    }
  }
  if (repeated > 0 && !facts.mayRepeat) faults.push(`${repeated} were sent again after a 200`)
  return { faults, repeated }
}

/** Updates of one payment at one endpoint. */
function judgeStrand(arrivals: readonly Arrival[], updates: number): Judgement {
  const accepted = arrivals.filter(({ status }) => status === 200)
  const firsts = new Map(accepted.map(({ sequence }) => [sequence, true]))
  const faults: string[] = []
  const sequences = [...firsts.keys()].join()
  if (sequences !== countTo(updates).join()) faults.push(`accepted ${sequences || 'nothing'}`)
  const bodies = new Map<string, string>()
  for (const { webhookId, digest } of arrivals) {
    if ((bodies.get(webhookId) ?? digest) !== digest) faults.push(`${webhookId} has two bodies`)
    bodies.set(webhookId, digest)
  }
  return { faults, repeated: accepted.length - firsts.size }
}

function countTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}
