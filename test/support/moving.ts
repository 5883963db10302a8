// A client's move in the state that a test needs, without the other cell: its row, and the fence as it stands then.

import type { Pool } from 'pg'
import { MOVE_STATES, type MoveState } from '../../server/core/network/client-move.ts'
import { inTransaction } from '../../server/store/connection/db.ts'
import { advanceMove, beginMove, findMoveOf } from '../../server/store/moves/client-moves.ts'
import { lowerFence, raiseFence } from '../../server/store/moves/move-fence.ts'

export async function beginMoveOf(
  pool: Pool,
  client: { clientKey: number; clientId: string },
  toAddress = 'https://seven.example',
): Promise<void> {
  await inTransaction(pool, (db) => beginMove(db, { ...client, toCell: 7, toAddress }, new Date()))
}

/** All states up to this one, one after the other. */
export async function bringMoveTo(pool: Pool, clientKey: number, to: MoveState): Promise<void> {
  const { state = 'DRAINING' } = (await findMoveOf(pool, clientKey)) ?? {}
  const coming = MOVE_STATES.slice(MOVE_STATES.indexOf(state) + 1, MOVE_STATES.indexOf(to) + 1)
  let before: MoveState = state
  for (const next of coming) {
    const from = { clientKey, state: before }
    await inTransaction(pool, async (db) => {
      if (next === 'COPYING') await raiseFence(db, clientKey)
      await advanceMove(db, from, next, new Date())
      if (next === 'REMOVED') await lowerFence(db)
    })
    before = next
  }
}
