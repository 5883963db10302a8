// One service process of a chaos run: the composition of server/app.ts with compressed timing. It tells
// its parent where it listens and when its loop was held up, and ends with SIGTERM like `paybell serve`.

import { flushCompileCache } from 'node:module'
import { pino } from 'pino'
import { untilSignal } from '../../cli/basics/run.ts'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import { connectFrom } from './own-address.ts'
import { type Suite, timingOf } from './settings.ts'

export interface ServiceOrder {
  suite: Suite
  /** It connects from there; null: as the system has it. */
  address: string | null
  databaseUrl: string
  masterKey: string
  operatorKey: string
  logFile: string
  logLevel: string
  /** Of the brokers. */
  settings: Readonly<Record<string, string>>
}

export type FromService =
  | { kind: 'ready'; baseUrl: string }
  /** The loop did nothing for this long, until now. */
  | { kind: 'held'; ms: number }

export type ToService = { kind: 'be busy'; ms: number }

const LOOK_EVERY_MS = 20
const HELD_MS = 150
const LINGER_MS_MAX = 1_000

const order = JSON.parse(process.env.CHAOS_SERVICE ?? '') as ServiceOrder
if (order.address !== null) connectFrom(order.address)
const tell = (message: FromService) => process.send?.(message)

const app = createApp({
  config: loadConfig('sandbox', {
    PORT: '0',
    PAYBELL_REQUESTS_PER_SECOND: '10000',
    ...order.settings,
  }),
  logger: pino({ level: order.logLevel }, pino.destination({ dest: order.logFile, sync: true })),
  databaseUrl: order.databaseUrl,
  masterKeys: [Buffer.from(order.masterKey, 'base64')],
  operatorKey: order.operatorKey,
  leasePolicy: order.suite.leases,
  timing: timingOf(order.suite),
})

process.on('message', ({ ms }: ToService) => {
  for (const until = performance.now() + ms; performance.now() < until; );
})
// Without its parent there is nothing to serve.
const onOrphaned = () => process.exit(1)
process.on('disconnect', onOrphaned)

let lookedAtMs = performance.now()
const watch = setInterval(() => {
  const nowMs = performance.now()
  if (nowMs - lookedAtMs > HELD_MS) tell({ kind: 'held', ms: nowMs - lookedAtMs })
  lookedAtMs = nowMs
}, LOOK_EVERY_MS)

const stopAsked = untilSignal()
await app.start()
tell({ kind: 'ready', baseUrl: app.baseUrl() })
// For those after it: it may be killed, and starts again and again are what such a run spends most on.
flushCompileCache()
await stopAsked
await app.stop()
clearInterval(watch)
process.off('disconnect', onOrphaned)
process.disconnect?.()
// As `paybell serve` does: a broker that is frozen answers no end of a connection.
setTimeout(() => process.exit(), LINGER_MS_MAX).unref()
