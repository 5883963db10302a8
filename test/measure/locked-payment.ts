// npm run measure:locked -- [seconds of a round]. How long strangers' PUTs take while a company's transaction holds one payment and a
// caller repeats its write to it, against none of that, alternating; and what a transaction of 500 payments
// takes when their locks are tried, against locks that are waited for.
// Not part of the tests: its figures mean something on a quiet machine only.

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import { recordingOn } from '../../server/operations/accepting/postgres-payment-store.ts'
import { acceptPayments, type Locking } from '../../server/operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { Caller } from '../support/caller.ts'
import { readArguments, toSeconds } from '../support/number-arguments.ts'
import { addClient } from '../support/paybell.ts'
import { PLAIN, sampleBody, sampleWrite } from '../support/payment-sample.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from '../support/test-server.ts'

const ROUND_MS = 1_000 * readArguments(() => toSeconds('seconds', process.argv[2] ?? '10'))
const ROUNDS = 3
const CALLERS = 8
const BATCHES = 60
const BATCH = 500

const server = await startTestServer()
try {
  await onServer(server.url, (db) => db.query(`create database measured template ${TEMPLATE}`))
  await measure(databaseUrl(server.url, 'measured'))
} finally {
  await server.stop()
}

async function measure(url: string): Promise<void> {
  const operatorKey = randomBytes(32).toString('base64url')
  const app = createApp({
    config: loadConfig('sandbox', { PORT: '0', PAYBELL_REQUESTS_PER_SECOND: '100000' }),
    logger: pino({ level: 'silent' }),
    databaseUrl: url,
    masterKeys: [randomBytes(32)],
    operatorKey,
  })
  await app.start()
  try {
    const facts = await addClient({ app, operatorKey }, 'Measured')
    const { accountId } = facts
    const caller = new Caller(facts)
    const put = async (id: string) => {
      const answer = await caller.putSample(id, PLAIN)
      await answer.arrayBuffer()
      return answer.status
    }

    const free: Times = { ms: [], refused: 0 }
    const locked: Times = { ms: [], refused: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      await strangers(put, free)
      const id = randomUUID()
      const holder = new pg.Client({ connectionString: url })
      await holder.connect()
      await holder.query('begin')
      const body = sampleBody({ id, ...PLAIN }).toString()
      await holder.query('select paybell.record_payment($1, $2)', [accountId, body])
      let isOver = false
      const repeating = (async () => {
        while (!isOver) if ((await put(id)) === 503) await delay(2_000)
      })()
      await strangers(put, locked)
      isOver = true
      await holder.query('rollback')
      await holder.end()
      await repeating
    }
    console.log(`strangers' PUTs, ${CALLERS} callers, ${ROUNDS} × ${ROUND_MS / 1_000} s each`)
    console.log(`  nothing locked:    ${describe(free)}`)
    console.log(`  a payment locked:  ${describe(locked)}`)

    const recording = recordingOn(app.deps, new AccountDirectory(app.deps.pool))
    const record = async (locking: Locking) => {
      const write = sampleWrite({ document: undefined })
      const changes = Array.from({ length: BATCH }, () => {
        return { accountId, write: { ...write, id: randomUUID() } }
      })
      const startedAt = performance.now()
      await acceptPayments(recording, app.deps.engine, changes, locking)
      return performance.now() - startedAt
    }
    const times: Record<Locking, number[]> = { try: [], wait: [] }
    for (let n = 0; n < BATCHES; n++) {
      for (const locking of ['try', 'wait'] as const) times[locking].push(await record(locking))
    }
    console.log(`transactions of ${BATCH} payments, ${BATCHES} each in turns, without endpoints`)
    console.log(
      `  locks tried:       p50 ${share(times.try, 0.5)} ms, p10 ${share(times.try, 0.1)}`,
    )
    console.log(
      `  locks waited for:  p50 ${share(times.wait, 0.5)} ms, p10 ${share(times.wait, 0.1)}`,
    )
  } finally {
    await app.stop()
  }
}

interface Times {
  ms: number[]
  refused: number
}

async function strangers(put: (id: string) => Promise<number>, times: Times): Promise<void> {
  const until = performance.now() + ROUND_MS
  const caller = async () => {
    while (performance.now() < until) {
      const startedAt = performance.now()
      if ((await put(randomUUID())) !== 201) times.refused++
      times.ms.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

function describe({ ms, refused }: Times): string {
  const at = (part: number) => share(ms, part)
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}; ${ms.length} PUTs, ${refused} refused`
}

function share(ms: readonly number[], part: number): string {
  const sorted = ms.toSorted((one, other) => one - other)
  return (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)
}
