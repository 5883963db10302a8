// What the calls of the store are about: some rows of the filled world, picked in one order.

import type { Pool } from 'pg'
import type { HeldDelivery } from '../../server/store/owed/held-deliveries.ts'
import { NOW } from './world.ts'

export interface SampleDelivery extends HeldDelivery {
  endpointId: string
  paymentId: string
  eventId: string
  sequence: number
  attempts: number
}

export interface SampleFinal {
  clientKey: number
  id: string
  endpointId: string
  eventId: string
  paymentId: string
  finishedAt: string
  finishedAtMs: number
}

export interface Sample {
  clientKey: number
  clientId: string
  accountId: string
  endpointId: string
  listenerId: string
  paymentId: string
  eventId: string
  jobId: string
  /** Of many clients. */
  pending: readonly SampleDelivery[]
  delivered: readonly SampleFinal[]
  cancelled: readonly SampleFinal[]
  documents: readonly { client_key: number; hash: Buffer; created_at: string }[]
  now: Date
}

export async function pickSample(pool: Pool): Promise<Sample> {
  const one = async <T>(column: string, rest: string) =>
    (await pool.query(`select ${column} as found ${rest} limit 1`)).rows[0]?.found as T
  const ofClient = 'where client_key = 1'
  const final = async (state: string, limit: number) =>
    (
      await pool.query<SampleFinal>(
        `select client_key as "clientKey", id, endpoint_id as "endpointId", event_id as "eventId",
           payment_id as "paymentId", finished_at::text as "finishedAt",
           extract(epoch from finished_at)::float8 * 1000 as "finishedAtMs"
         from final_deliveries where state = $1
           and endpoint_id not in (select id from endpoints where deleted_at is not null)
           and (client_key, id) not in (select client_key, delivery_id from job_items)
         order by id desc limit $2`,
        [state, limit],
      )
    ).rows
  const { rows: pending } = await pool.query<SampleDelivery>(
    `select client_key as "clientKey", id, shard, 1 as epoch, endpoint_id as "endpointId",
       payment_id as "paymentId", event_id as "eventId", sequence, attempts
     from pending_deliveries where next_attempt_at is not null order by id desc limit 3000`,
  )
  const { rows: documents } = await pool.query(
    `select client_key, hash, created_at::text from documents order by client_key, hash limit 20`,
  )
  return {
    clientKey: 1,
    clientId: await one('id', `from clients ${ofClient}`),
    accountId: await one('id', `from accounts ${ofClient}`),
    endpointId: await one('id', `from endpoints ${ofClient} and kind = 'webhook' order by id`),
    listenerId: await one('id', `from endpoints ${ofClient} and kind = 'listener' order by id`),
    paymentId: await one('id', `from payments ${ofClient} order by accepted_at desc`),
    eventId: await one('id', `from events ${ofClient} order by id desc`),
    jobId: await one('job_id', 'from job_deliveries order by job_id'),
    pending,
    delivered: await final('DELIVERED', 100),
    cancelled: await final('CANCELLED', 20),
    documents,
    now: NOW,
  }
}
