// An endpoint whose deliveries a test makes, ends and replays by hand, at times of its choice, with what its
// statement has to say.

import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { uuidFloor } from '../../server/core/plain/uuid.ts'
import { digestOfIds } from '../../server/core/proofs/ids-digest.ts'
import { type Db, inTransaction } from '../../server/store/connection/db.ts'
import { cancelDeliveries } from '../../server/store/owed/cancellations.ts'
import { findFinal } from '../../server/store/owed/one-delivery.ts'
import { recordOutcomes } from '../../server/store/owed/outcomes.ts'
import { replayDeliveries } from '../../server/store/owed/replays.ts'
import {
  attemptRecord,
  holdShard,
  idAt,
  type StoredEndpoint,
  storeClient,
  storeEndpoint,
} from './stored-deliveries.ts'

export interface MadeDelivery {
  id: string
  eventId: string
}

export class StatedEndpoint {
  readonly pool: Pool
  readonly endpoint: StoredEndpoint
  readonly #epoch: number

  private constructor(pool: Pool, endpoint: StoredEndpoint, epoch: number) {
    this.pool = pool
    this.endpoint = endpoint
    this.#epoch = epoch
  }

  static async create(pool: Pool): Promise<StatedEndpoint> {
    const { clientKey } = await storeClient(pool)
    return new StatedEndpoint(pool, await storeEndpoint(pool, clientKey), await holdShard(pool))
  }

  get key() {
    return { clientKey: this.endpoint.clientKey, id: this.endpoint.endpointId }
  }

  /** An event of this moment and its delivery, as one transaction makes them. */
  async make(db: Db, at: Date): Promise<MadeDelivery> {
    const made = { id: idAt(at), eventId: idAt(at) }
    const { clientKey, endpointId, shard } = this.endpoint
    const [paymentId, accountId] = [randomUUID(), randomUUID()]
    await db.query(
      `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
       values ($1, $2, $3, $4, 1, 'payment.created', '{}', $5)`,
      [clientKey, made.eventId, paymentId, accountId, at],
    )
    await db.query(
      `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, shard, created_at, next_attempt_at)
       values ($1, $2, $3, $4, $5, $6, 1, 'payment.created', $7, $8, $8)`,
      [clientKey, made.id, made.eventId, endpointId, paymentId, accountId, shard, at],
    )
    return made
  }

  /** Its next attempt, with the outcome that ends it. */
  async end({ id }: MadeDelivery, state: 'DELIVERED' | 'EXHAUSTED', now: Date): Promise<void> {
    const { rows } = await this.pool.query<{ attempts: number; payment_id: string }>(
      'select attempts, payment_id from pending_deliveries where id = $1',
      [id],
    )
    const [row] = rows
    if (row === undefined) return
    const { clientKey, endpointId, shard } = this.endpoint
    const atMs = now.getTime()
    await recordOutcomes(
      this.pool,
      [
        attemptRecord({
          ...{ clientKey, id, shard, epoch: this.#epoch, endpointId, paymentId: row.payment_id },
          ...{ attempt: row.attempts + 1, runAttempt: 1, atMs, deadlineAtMs: atMs + 1_000 },
          ...{ status: state === 'DELIVERED' ? 200 : 503, state },
        }),
      ],
      now,
    )
  }

  async cancel({ id }: MadeDelivery, now: Date): Promise<void> {
    const { clientKey, endpointId } = this.endpoint
    await inTransaction(this.pool, (db) =>
      cancelDeliveries(db, [{ clientKey, id, endpointId }], now, { isWaiting: true }),
    )
  }

  /** `held` delays the commit. */
  async replay({ id }: MadeDelivery, now: Date, held?: () => Promise<unknown>): Promise<void> {
    const owner = { clientKey: this.endpoint.clientKey, accountId: null }
    await inTransaction(this.pool, async (db) => {
      const found = await findFinal(db, owner, id)
      if (found !== null) await replayDeliveries(db, [found], now)
      await held?.()
    })
  }

  /** What is delivered now, by the plainest of queries: the count, and the digest. */
  async delivered(fromMs: number, toMs: number): Promise<{ delivered: number; idsDigest: string }> {
    const { rows } = await this.pool.query<{ event_id: string }>(
      `select event_id from final_deliveries
       where endpoint_id = $1 and state = 'DELIVERED' and id >= $2 and id < $3`,
      [this.endpoint.endpointId, uuidFloor(fromMs), uuidFloor(toMs)],
    )
    return { delivered: rows.length, idsDigest: digestOfIds(rows.map((row) => row.event_id)) }
  }
}
