// The daily notice with the head of the sealed audit. It is kept where the operator keeps mail: a head that was sent
// and no longer leads the chain shows that the chain was cut off or rewritten.

import { DAY_MS } from '../core/delivery/backoff.ts'
import type { NewEvent } from '../core/delivery/fan-out.ts'
import { NIL_UUID } from '../core/plain/uuid.ts'
import type { Deps } from '../operations/shared/deps.ts'
import type { Db } from '../store/connection/db.ts'
import { readSealHead } from '../store/proofs/audit-segments.ts'
import { readSealProgress, saveHeadTold } from '../store/proofs/seal-progress.ts'

const KIND = 'audit.head'
/** Stands in for a payment, so that the heads arrive in order. */
const SUBJECT = '00000000-0000-0000-0000-00000000aead'

/** The event, once a day; null where it is not due, or nothing is sealed. Also on a day without a new seal. */
export async function makeHeadNotice(
  deps: Pick<Deps, 'newId'>,
  db: Db,
  clientKey: number,
  now: Date,
): Promise<NewEvent | null> {
  const { headToldAt } = await readSealProgress(db)
  const day = Math.floor(now.getTime() / DAY_MS)
  if (headToldAt !== null && Math.floor(headToldAt.getTime() / DAY_MS) >= day) return null
  const head = await readSealHead(db)
  if (head === null) return null
  await saveHeadTold(db, now)
  return {
    clientKey,
    id: deps.newId(),
    paymentId: SUBJECT,
    accountId: NIL_UUID,
    sequence: day,
    kind: KIND,
    // `at` comes last, as in every notice (core/delivery/notice).
    text: JSON.stringify({ type: KIND, head, at: now.toISOString() }),
    documentHash: null,
    documentBytes: null,
  }
}
