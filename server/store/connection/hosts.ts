// Which of a database's hosts takes writes now. Each is asked over a connection of its own, the last good
// one first; the next is asked when one refuses, or says nothing for a while. After a failover the
// processes find the new primary by this, without a restart.

import pg from 'pg'
import { IS_READ_ONLY, readOnlyError } from './read-only.ts'

export interface Host {
  host: string
  port: number
}

/** So long a host may say nothing before the next is asked beside it. */
const PATIENCE_MS = 500

/** Of the time to connect: what is left belongs to the connection itself. */
const FIND_MS_MAX = 3_000

export class HostFinder {
  /** The last good one is first. */
  #urls: readonly string[]
  #underWay: Promise<Host> | null = null

  constructor(urls: readonly string[]) {
    this.#urls = urls
  }

  /** Connections that are opened together share one answer. */
  find(): Promise<Host> {
    this.#underWay ??= this.#ask().finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  async #ask(): Promise<Host> {
    const others = new AbortController()
    const limit = AbortSignal.any([others.signal, AbortSignal.timeout(FIND_MS_MAX)])
    try {
      const { url, host } = await findFirst(
        this.#urls,
        async (url) => ({ url, host: await askHost(url, limit) }),
        PATIENCE_MS,
      )
      this.#urls = [url, ...this.#urls.filter((other) => other !== url)]
      return host
    } finally {
      others.abort()
    }
  }
}

/** The first answer, while candidates are asked in order: the next when one fails or lets us wait. */
export function findFirst<C, T>(
  candidates: readonly C[],
  ask: (candidate: C) => Promise<T>,
  patienceMs: number,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const failures: unknown[] = []
  let next = 0
  let timer: NodeJS.Timeout | undefined
  const askNext = () => {
    clearTimeout(timer)
    if (next >= candidates.length) return
    const candidate = candidates[next++] as C
    timer = setTimeout(askNext, patienceMs)
    ask(candidate).then(
      (answer) => {
        next = candidates.length
        clearTimeout(timer)
        resolve(answer)
      },
      (error) => {
        failures.push(error)
        if (failures.length < candidates.length) return askNext()
        clearTimeout(timer)
        reject(new AggregateError(failures, 'no host of the database takes writes'))
      },
    )
  }
  askNext()
  return promise
}

/** Fails unless the host answers in time and takes writes. */
async function askHost(url: string, limit: AbortSignal): Promise<Host> {
  const client = new pg.Client({ connectionString: url, application_name: 'paybell hosts' })
  client.on('error', () => {})
  const giveUp = () => client.connection.stream.destroy()
  limit.addEventListener('abort', giveUp, { once: true })
  try {
    limit.throwIfAborted()
    await client.connect()
    const { rows } = await client.query<{ read_only: boolean }>(IS_READ_ONLY)
    if (rows[0]?.read_only !== false) throw readOnlyError(client.host)
    return { host: client.host, port: client.port }
  } finally {
    limit.removeEventListener('abort', giveUp)
    void client.end().catch(() => {})
  }
}
