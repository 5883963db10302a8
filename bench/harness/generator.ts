// The load generator process: feeds payments as NDJSON batches or as single PUTs, in a closed loop
// with a bound on what is under way, or in an open one at a fixed rate; or repeats one request.

import { Pool } from 'undici'
import { answerCalls } from './answer-calls.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import { LeanClient } from './lean-client.ts'
import { monotonicMs } from './monotonic.ts'
import { PaymentMaker } from './payments.ts'
import { heardBelow } from './system.ts'

export interface Target {
  baseUrl: string
  operatorKey: string
  accountIds: readonly string[]
  seed: string
  documentBytes?: number
  /** Only of each n-th payment an arrival can be waited for (harness/system.ts). */
  heardEvery?: number | undefined
  dialect?: Dialect | undefined
}

export interface Limits {
  seconds: number
  /** Requests under way. */
  concurrent: number
  /** Payments sent that have to arrive and have not yet: more are sent only below this. */
  underWayMax: number
  linesPerBatch?: number
  /** Ends earlier, after so many payments. */
  countMax?: number
}

export interface Fed {
  firstNumber: number
  /** Payments answered 2xx; the rest was refused or lost its connection. */
  accepted: number
  refused: number
  startedAtMs: number
  endedAtMs: number
  /** By number: when it was (to be) sent. */
  sentAtMs: Float64Array
  firstRefusal: string
}

let target: Target = { baseUrl: '', operatorKey: '', accountIds: [], seed: '' }
let maker = new PaymentMaker('')
let pool: Pool | undefined
let client: LeanClient | undefined
let authorization = ''
let nextNumber = 0
let arrived = 0
let wake: (() => void) | null = null

function account(number: number): string {
  return target.accountIds[number % target.accountIds.length] as string
}

/** Where the number of arrivals stood when nothing was under way. */
let baseline = 0

function heard(number: number): number {
  return heardBelow(number, target.heardEvery)
}

async function room(underWayMax: number, until: number, wanted: number): Promise<boolean> {
  while (heard(nextNumber + wanted) - baseline - arrived > underWayMax) {
    if (monotonicMs() >= until) return false
    await new Promise<void>((resolve) => {
      wake = resolve
      setTimeout(resolve, 50)
    })
  }
  return true
}

class Feeding {
  readonly result: Fed
  sent = new Float64Array(1 << 18)

  constructor() {
    const now = monotonicMs()
    this.result = {
      firstNumber: nextNumber,
      accepted: 0,
      refused: 0,
      startedAtMs: now,
      endedAtMs: now,
      sentAtMs: this.sent,
      firstRefusal: '',
    }
  }

  take(count: number, atMs: number): number {
    const first = nextNumber
    nextNumber += count
    const end = nextNumber - this.result.firstNumber
    if (end > this.sent.length) {
      const more = new Float64Array(Math.max(end, this.sent.length * 2))
      more.set(this.sent)
      this.sent = more
    }
    this.sent.fill(atMs, first - this.result.firstNumber, end)
    return first
  }

  refuse(count: number, why: string): void {
    this.result.refused += count
    this.result.firstRefusal ||= why.slice(0, 300)
  }

  end(): Fed {
    this.result.endedAtMs = monotonicMs()
    this.result.sentAtMs = this.sent.slice(0, nextNumber - this.result.firstNumber)
    return this.result
  }
}

async function putOne(feeding: Feeding, number: number): Promise<void> {
  try {
    const write = DIALECTS[target.dialect ?? 'paybell']
    const request = write(maker, number, account(number))
    const { status, body } = await (client as LeanClient).ask(
      request.method,
      request.path,
      authorization + request.headers,
      request.body,
    )
    if (status >= 200 && status < 300) feeding.result.accepted++
    else feeding.refuse(1, `${status} ${body}`)
  } catch (error) {
    feeding.refuse(1, String(error))
  }
}

async function postBatch(feeding: Feeding, first: number, count: number): Promise<void> {
  let lines = ''
  for (let number = first; number < first + count; number++) {
    lines += maker.line(number, account(number))
  }
  try {
    const { statusCode, body } = await (pool as Pool).request({
      method: 'POST',
      path: '/operator/v1/payments/batch',
      headers: {
        authorization: `Bearer ${target.operatorKey}`,
        'content-type': 'application/x-ndjson',
      },
      body: lines,
    })
    const text = await body.text()
    if (statusCode !== 200) {
      feeding.refuse(count, `${statusCode} ${text}`)
      return
    }
    const refused = text.includes('"problem"') ? text.split('"problem"').length - 1 : 0
    feeding.result.accepted += count - refused
    if (refused > 0) {
      feeding.refuse(refused, text.split('\n').find((line) => line.includes('"problem"')) ?? '')
    }
  } catch (error) {
    feeding.refuse(count, String(error))
  }
}

async function closedLoop(limits: Limits): Promise<Fed> {
  const feeding = new Feeding()
  baseline = heard(nextNumber) - arrived
  const until = feeding.result.startedAtMs + limits.seconds * 1_000
  const step = limits.linesPerBatch ?? 1
  const last = nextNumber + (limits.countMax ?? Number.POSITIVE_INFINITY)
  const feeder = async () => {
    while (monotonicMs() < until && nextNumber < last) {
      if (!(await room(limits.underWayMax, until, step))) return
      const count = Math.min(step, last - nextNumber)
      if (count <= 0) return
      const first = feeding.take(count, monotonicMs())
      if (limits.linesPerBatch === undefined) await putOne(feeding, first)
      else await postBatch(feeding, first, count)
    }
  }
  await Promise.all(Array.from({ length: limits.concurrent }, feeder))
  return feeding.end()
}

/** Sends at the appointed times, however slow the answers are: a stall shows in all that it delays. */
async function openLoop(limits: { seconds: number; perSecond: number }): Promise<Fed> {
  const feeding = new Feeding()
  baseline = heard(nextNumber) - arrived
  const gapMs = 1_000 / limits.perSecond
  const startAt = feeding.result.startedAtMs
  const total = Math.floor(limits.seconds * limits.perSecond)
  const underWay: Promise<void>[] = []
  for (let sent = 0; sent < total; ) {
    const now = monotonicMs()
    while (sent < total && startAt + sent * gapMs <= now) {
      underWay.push(putOne(feeding, feeding.take(1, startAt + sent * gapMs)))
      sent++
    }
    if (sent < total) {
      const waitMs = startAt + sent * gapMs - monotonicMs()
      // Timers are late by a millisecond: the last 2 ms pass in iterations of the event loop.
      if (waitMs > 2) await new Promise((resolve) => setTimeout(resolve, waitMs - 2))
      else await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(underWay)
  return feeding.end()
}

interface Repeated {
  url: string
  method: 'GET' | 'POST'
  path: string
  /** Each request takes the next of them. */
  headers: readonly Record<string, string>[]
  body?: string
  seconds: number
  concurrent: number
}

async function repeat(request: Repeated): Promise<{ perSecond: number; failed: number }> {
  const repeated = new LeanClient(request.url)
  const headers = request.headers.map((given) =>
    Object.entries(given)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
  )
  const startedAt = monotonicMs()
  const until = startedAt + request.seconds * 1_000
  let done = 0
  let failed = 0
  let asked = 0
  const loop = async () => {
    while (monotonicMs() < until) {
      const { status } = await repeated.ask(
        request.method,
        request.path,
        headers[asked++ % headers.length] ?? '',
        request.body ?? '',
      )
      if (status === 200) done++
      else failed++
    }
  }
  await Promise.all(Array.from({ length: request.concurrent }, loop))
  const perSecond = done / ((monotonicMs() - startedAt) / 1_000)
  repeated.close()
  return { perSecond, failed }
}

answerCalls({
  async aim(at: Target) {
    await pool?.destroy()
    client?.close()
    target = at
    maker = new PaymentMaker(at.seed, at.documentBytes)
    nextNumber = 0
    arrived = 0
    client = new LeanClient(at.baseUrl)
    authorization = `authorization: Bearer ${at.operatorKey}\r\n`
    pool = new Pool(at.baseUrl, { connections: 256, pipelining: 1, headersTimeout: 120_000 })
  },
  arrived(unique: number) {
    arrived = unique
    wake?.()
    wake = null
  },
  closedLoop,
  openLoop,
  repeat,
})
