// The session whose lock is this process's sign (decision 0089): a connection of its own that holds an advisory lock
// under a number drawn at random. Others ask whether the lock is free, which needs no right to look at their sessions.
// A name carries which server it is on, because only that one can tell: after a fail-over, and on another node of
// a cluster, a lock that is not there says nothing.

import { randomInt } from 'node:crypto'
import { createClient } from './db.ts'
import { IS_SIGN_FREE, TAKE_SIGN } from './locks.ts'

export interface SignSessionOptions {
  url: string
  /** Opening it takes no longer, or fails. */
  openMsMax: number
}

/** A beat that takes longer never comes back. Who counts on it gives up sooner. */
const ANSWER_MS_MAX = 10_000

interface OpenedSign {
  readonly name: string
  beat(watched: readonly string[]): Promise<readonly string[]>
  close(): void
}

const KEY_MAX = 2 ** 31

// Lost together with the lock, whatever takes it away: the end of the session, or a pooler that resets it or puts
// another one in its place.
const SETTING = 'paybell.sign'

interface TakenRow {
  is_ours: boolean
  server: string
  name: string
}

interface BeatRow {
  sign: string | null
  ended: number[]
}

export async function openSignSession(
  { url, openMsMax }: SignSessionOptions,
  onEnd: () => void,
): Promise<OpenedSign> {
  const signal = AbortSignal.timeout(openMsMax)
  const client = createClient(url, 'paybell sign', {
    mustTakeWrites: true,
    queryTimeoutMs: ANSWER_MS_MAX,
    signal,
  })
  const close = () => void client.connection.stream.destroy()
  client.on('end', onEnd)
  try {
    await client.connect()
    signal.throwIfAborted()
    signal.addEventListener('abort', close, { once: true })
    const { rows } = await client.query<TakenRow>(TAKE_SIGN, [randomInt(KEY_MAX), SETTING])
    const { is_ours, server, name } = rows[0] as TakenRow
    if (!is_ours) throw new Error('the number of the sign is taken')
    return {
      name,
      close,
      async beat(watched) {
        const keys = watched.flatMap((other) => keyOn(server, other) ?? [])
        const answer = await client.query<BeatRow>({
          name: 'beat',
          text: `select current_setting('${SETTING}', true) as sign,
                   array(select key from unnest($1::int[]) as key where ${IS_SIGN_FREE}) as ended`,
          values: [keys],
        })
        const { sign, ended } = answer.rows[0] as BeatRow
        if (sign !== name) throw new Error('the session is another')
        return ended.map((freed) => `${server}/${freed}`)
      },
    }
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

/** The number of another's sign, if it is on this server. */
function keyOn(server: string, name: string): number | null {
  const [at, key] = name.split('/')
  return at === server && key !== undefined && /^\d{1,10}$/.test(key) ? Number(key) : null
}
