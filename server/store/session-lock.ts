// A right that one process has at a time, for as long as its connection lasts: an advisory lock of a
// session. It is lost with the connection, and a process that dies gives it up by dying.

import { createClient } from './db.ts'
import { type NamedLock, tryLockForSession } from './locks.ts'

export interface HeldLock {
  release(): Promise<void>
}

/** Null when another process has it. `onLost` is called once, when it is lost and not given back. */
export async function holdLock(
  url: string,
  lock: NamedLock,
  onLost: () => void,
): Promise<HeldLock | null> {
  const client = createClient(url, 'paybell turn', {
    // A standby would give the lock to every process that asks.
    mustTakeWrites: true,
    queryTimeoutMs: 5_000,
  })
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
    if (await tryLockForSession(client, lock)) return { release }
  } catch (error) {
    await release()
    throw error
  }
  await release()
  return null
}
