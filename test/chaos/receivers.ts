// The receivers, a process of their own: all of them on one port, a personality per path. Whatever they
// answer is on disk before it is said, so that the log can be the judge.

import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerOf, keyOf } from './personalities.ts'
import { SyncedLog } from './synced-log.ts'

export interface ReceivedLine {
  path: string
  /** The address that it came from. */
  from: string
  webhookId: string
  paymentId: string
  sequence: number
  attempt: number
  isReplay: boolean
  bodyHash: string
  /** Numbers of the keys that verified, the current one first; null when a signature did not. */
  keys: number[] | null
  startedAtMs: number
  /** What was answered, heard or not; null when nothing was. */
  status: number | null
  answeredAtMs: number
  /** The sender had hung up before the answer. */
  wasLeft: boolean
}

export interface ReceiversOrder {
  seed: number
  logFile: string
}

export type FromReceivers =
  | { kind: 'ready'; port: number }
  | { kind: 'report'; ticket: number; path: string }
  | { kind: 'held'; ms: number }

/** Go on with that request: its sender is dead. */
export type ToReceivers = { kind: 'go'; ticket: number }

const KEYS_MAX = 2_000
const HELD_MS = 150

const order = JSON.parse(process.env.CHAOS_RECEIVERS ?? '') as ReceiversOrder
const log = await SyncedLog.open(order.logFile)
const beganAtMs = Date.now()
const requests = new Map<string, number>()
const newestKeys = new Map<string, number>()
const tickets = new Map<number, () => void>()
let ticketCount = 0
const tell = (message: FromReceivers) => process.send?.(message)

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const startedAtMs = Date.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => void respond(request, response, Buffer.concat(chunks), startedAtMs))
  request.on('error', () => {})
  response.on('error', () => {})
})
server.listen(0, '127.0.0.1', () => {
  tell({ kind: 'ready', port: (server.address() as AddressInfo).port })
})

process.on('message', ({ ticket }: ToReceivers) => tickets.get(ticket)?.())
process.on('disconnect', () => process.exit(0))

let lookedAtMs = performance.now()
setInterval(() => {
  const nowMs = performance.now()
  if (nowMs - lookedAtMs > HELD_MS) tell({ kind: 'held', ms: nowMs - lookedAtMs })
  lookedAtMs = nowMs
}, 20)

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  startedAtMs: number,
): Promise<void> {
  let leftAtMs: number | null = null
  const left = new Promise<void>((resolve) => {
    response.on('close', () => {
      leftAtMs ??= Date.now()
      resolve()
    })
  })
  const seen = readRequest(request, body)
  const strand = `${seen.path} ${seen.webhookId}`
  const count = (requests.get(strand) ?? 0) + 1
  requests.set(strand, count)
  const answer = answerOf({ ...seen, request: count, atMs: startedAtMs - beganAtMs }, order.seed)
  if (answer.kind === 'answer' && answer.afterMs > 0) await sleep(answer.afterMs)
  if (answer.kind === 'tell' && count === 1) await reportAndWait(seen.path)
  if (answer.kind === 'reset') request.socket.resetAndDestroy()
  if (answer.kind === 'reset' || answer.kind === 'hang') await left
  const status = answer.kind === 'answer' ? answer.status : answer.kind === 'tell' ? 200 : null
  const wasLeft = leftAtMs !== null
  const answeredAtMs = leftAtMs ?? Date.now()
  const line: ReceivedLine = { ...seen, startedAtMs, status, answeredAtMs, wasLeft }
  await log.write(line)
  if (status === null || leftAtMs !== null) return
  const retryAfter = answer.kind === 'answer' ? answer.retryAfter : undefined
  response.writeHead(status, retryAfter ? { 'retry-after': retryAfter } : {}).end()
}

function reportAndWait(path: string): Promise<void> {
  const ticket = ++ticketCount
  const released = new Promise<void>((resolve) => tickets.set(ticket, resolve))
  tell({ kind: 'report', ticket, path })
  // The parent has other things to do: then the answer is given after all, within the deadline.
  return Promise.race([released, sleep(300)]).finally(() => tickets.delete(ticket))
}

function readRequest(request: IncomingMessage, body: Buffer) {
  const header = (name: string) => String(request.headers[name] ?? '')
  const path = request.url ?? ''
  const { id } = JSON.parse(body.toString()) as { id: string }
  return {
    path,
    from: request.socket.remoteAddress ?? '',
    webhookId: header('webhook-id'),
    paymentId: id,
    sequence: Number(header('x-paybell-sequence')),
    attempt: Number(header('x-paybell-attempt')),
    isReplay: request.headers['x-paybell-replay'] === 'true',
    bodyHash: createHash('sha256').update(body).digest('base64'),
    keys: verify(path, request, body),
  }
}

/** Both kinds of signature, of every key that signed. */
function verify(path: string, request: IncomingMessage, body: Buffer): number[] | null {
  const { headers } = request
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const numbers = String(headers['webhook-signature'])
    .split(' ')
    .map((entry) =>
      findKey(path, (key) => {
        const digest = createHmac('sha256', key).update(signed).update(body).digest('base64')
        return `v1,${digest}` === entry
      }),
    )
  const plain = [headers['x-paybell-hmac'], headers['x-paybell-hmac-previous']].filter(Boolean)
  const isValid = numbers.every((number, index) => {
    if (number === null) return false
    const key = keyOf(path, number)
    return createHmac('sha256', key).update(body).digest('hex') === plain[index]
  })
  return isValid && plain.length === numbers.length ? (numbers as number[]) : null
}

/** The newest known first, then those that may have come since, then the older ones. */
function findKey(path: string, fits: (key: string) => boolean): number | null {
  const newest = newestKeys.get(path) ?? 0
  for (let n = newest; n >= Math.max(0, newest - 3); n--) if (fits(keyOf(path, n))) return n
  for (let n = newest + 1; n < KEYS_MAX; n++) {
    if (!fits(keyOf(path, n))) continue
    newestKeys.set(path, n)
    return n
  }
  return null
}
