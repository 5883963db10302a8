// What a cell's store does for deliveries that come in batches: accept the changes, record that each was delivered. No
// HTTP and no receiver: the scripts beside this ask what PostgreSQL needs, and that alone.

import { randomBytes, randomUUID } from 'node:crypto'
import { PaymentMaker } from '../../bench/harness/payments.ts'
import { preparePaybell } from '../../bench/paybell/prepare.ts'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { parsePaymentLine } from '../../server/core/payments/payment-fields.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { recordingOn } from '../../server/operations/accepting/postgres-payment-store.ts'
import { recordPayments } from '../../server/operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { takeLeases } from '../../server/store/owed/leases.ts'
import { recordOutcomes } from '../../server/store/owed/outcomes.ts'

export interface CellLoad {
  name: string
  /** One batch, accepted and recorded. Returns how many deliveries it had. */
  deliver(batch: number): Promise<number>
  close(): Promise<void>
}

/** The cell has to be there; `paybell cells create` makes one. */
export async function openCellLoad(
  url: string,
  cell: number,
  connectionsMax = 1,
): Promise<CellLoad> {
  const databaseUrl = addressOfCell(url, cell)
  const { accountIds } = await preparePaybell({
    databaseUrl,
    masterKey: randomBytes(32),
    receiverUrl: 'https://receiver.example',
    endpoints: 10,
  })
  const pool = createPool({
    url: databaseUrl,
    connectionsMax,
    onIdleError: () => {},
    applicationName: 'paybell cell-load',
  })
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const recording = recordingOn(
    { pool, clock, newId: () => ids.next() },
    new AccountDirectory(pool),
  )
  // Of a run before.
  await pool.query('update leases set owner = null')
  const held = await takeLeases(pool, randomUUID(), 64, 3_600_000, new Map())
  const epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]))
  const maker = new PaymentMaker(randomUUID())
  let number = 0

  const deliver = async (batch: number) => {
    const changes = Array.from({ length: batch }, () => {
      const accountId = accountIds[number % accountIds.length] as string
      const { value, amountText } = parseJson(Buffer.from(maker.line(number++, accountId)))
      return parsePaymentLine(value, amountText)
    })
    const { deliveries } = await recordPayments(recording, changes)
    const atMs = Date.now()
    const { ids: recorded } = await recordOutcomes(
      pool,
      deliveries.map((delivery) => ({
        ...delivery,
        epoch: epochs.get(delivery.shard) ?? 0,
        attempt: 1,
        runAttempt: 1,
        atMs,
        durationMs: 5,
        outcome: 'answered',
        status: 200,
        excerpt: null,
        state: 'DELIVERED',
        nextAttemptAtMs: null,
        firstAttemptAtMs: atMs,
        firstFailedAtMs: null,
        deadlineAtMs: atMs + 1_000,
        supersedes: false,
      })),
      new Date(),
    )
    return recorded.size
  }
  return {
    name: `${new URL(url).host} cell ${cell}`,
    deliver,
    close: () => pool.end(),
  }
}
