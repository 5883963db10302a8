// A right that one process has at a time, for as long as its connection lasts: an advisory lock of a
// session. It is lost with the connection, and a process that dies gives it up by dying.

import pg from 'pg'
import { connectionConfig } from './db.ts'

export interface TurnHeld {
  release(): Promise<void>
}

/** Any number that nothing else in this database uses. */
export const NATS_TURN = 7_205_759_403_792_796

/** Null when another process has it. `onLost` is called once, when it is lost and not given back. */
export async function takeTurn(
  url: string,
  turn: number,
  onLost: () => void,
): Promise<TurnHeld | null> {
  const client = new pg.Client(connectionConfig(url, 'paybell turn'))
  let isOver = false
  const lose = () => {
    if (isOver) return
    isOver = true
    onLost()
  }
  client.on('error', lose)
  client.on('end', lose)
  const release = async () => {
    isOver = true
    await client.end().catch(() => {})
  }
  try {
    await client.connect()
    const { rows } = await client.query<{ taken: boolean }>(
      'select pg_try_advisory_lock($1::bigint) as taken',
      [turn],
    )
    if (rows[0]?.taken) return { release }
  } catch (error) {
    await release()
    throw error
  }
  await release()
  return null
}
