// A receiver as the documentation tells to write one, with node:crypto and nothing else; and the same one
// with a single fault of many, for the check that must find it.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Owner } from './owner.ts'

export const FAULTS = [
  'takes-tampered-bodies',
  'takes-wrong-signatures',
  'takes-missing-signatures',
  'takes-stale-timestamps',
  'answers-204',
  'refuses-repeats',
  'refuses-late-updates',
  'chokes-on-unknown-fields',
  'refuses-1-mb',
  'mangles-unicode',
  'ignores-slow-bodies',
  'refuses-everything',
] as const
export type Fault = (typeof FAULTS)[number] | 'none'

const KNOWN_FIELDS = new Set([
  'id',
  'status',
  'complete',
  'createdAt',
  'completedAt',
  'externalId',
  'quoteId',
  'amount',
  'reference',
  'purposeOfPayment',
  'beneficiaryId',
  'documentReference',
  'document',
])

export interface CheckedReceiver {
  /** The address of the receiver with this fault. */
  url(fault: Fault): string
  /** How long each body took to arrive, by fault. */
  bodyMs(fault: Fault): readonly number[]
  /** The marks of a test that were seen. */
  isAllMarked(): boolean
}

export async function startCheckedReceiver(t: Owner, sharedKey: string): Promise<CheckedReceiver> {
  const seen = new Map<string, Set<string>>()
  const newest = new Map<string, number>()
  const bodyMs = new Map<string, number[]>()
  let isAllMarked = true

  const decide = (fault: Fault, request: IncomingMessage, body: Buffer): number => {
    const header = (name: string) => String(request.headers[name] ?? '')
    if (fault === 'refuses-everything') return 403
    if (fault === 'refuses-1-mb' && body.length > 1_000_000) return 413
    const hmac = header('x-paybell-hmac')
    if (hmac === '' && fault !== 'takes-missing-signatures') return 401
    // Bytes to text and back, by way of the wrong alphabet.
    const signed = fault === 'mangles-unicode' ? Buffer.from(body.toString('ascii')) : body
    const right = createHmac('sha256', sharedKey).update(signed).digest()
    const given = Buffer.from(hmac, 'hex')
    const isRight = given.length === right.length && timingSafeEqual(given, right)
    const text = body.toString()
    if (!isRight && hmac !== '') {
      const isForgiven =
        (fault === 'takes-wrong-signatures' && text.includes('100.00')) ||
        (fault === 'takes-tampered-bodies' && text.includes('900.00'))
      if (!isForgiven) return 401
    }
    const age = Math.abs(Date.now() / 1_000 - Number(header('webhook-timestamp')))
    if (age > 300 && fault !== 'takes-stale-timestamps') return 400
    const payment = JSON.parse(text) as Record<string, unknown>
    if (fault === 'chokes-on-unknown-fields') {
      if (Object.keys(payment).some((name) => !KNOWN_FIELDS.has(name))) return 500
    }
    const ids = seen.get(fault) ?? new Set()
    seen.set(fault, ids)
    if (ids.has(header('webhook-id'))) return fault === 'refuses-repeats' ? 409 : 200
    ids.add(header('webhook-id'))
    const sequence = Number(header('x-paybell-sequence'))
    const key = `${fault} ${payment.id}`
    if (sequence < (newest.get(key) ?? 0)) return fault === 'refuses-late-updates' ? 409 : 200
    newest.set(key, sequence)
    return fault === 'answers-204' ? 204 : 200
  }

  const server = createServer((request, response) => {
    const fault = (request.url ?? '/').slice(1) as Fault
    const startedAt = performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      // Takes the first piece for the whole.
      if (fault === 'ignores-slow-bodies' && chunks.length === 1) {
        setTimeout(() => {
          if (!request.complete) response.writeHead(401).end()
        }, 200)
      }
    })
    request.on('error', () => {})
    request.on('end', () => {
      bodyMs.set(fault, [...(bodyMs.get(fault) ?? []), performance.now() - startedAt])
      if (request.headers['x-paybell-test'] !== 'true') isAllMarked = false
      if (!response.headersSent) {
        response.writeHead(decide(fault, request, Buffer.concat(chunks))).end()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    url: (fault) => `http://127.0.0.1:${port}/${fault}`,
    bodyMs: (fault) => bodyMs.get(fault) ?? [],
    isAllMarked: () => isAllMarked,
  }
}
