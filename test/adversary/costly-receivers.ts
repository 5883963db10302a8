// Receivers that make it costly to verify who they are, in a thread of their own, so that the CPU time of this one is that of
// the service alone. All of it is permitted by TLS, and OpenSSL takes it.

import { createPrivateKey, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { TlsOptions } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { der, sequence } from '../../server/core/certificates/der.ts'
import { type IssueOptions, issue, newKey } from '../support/issue-certificate.ts'
import type { Owner } from '../support/owner.ts'

export interface CostlyReceiver {
  name: string
  options: TlsOptions
  /** Shown in a second handshake on the same connection (TLS 1.2). */
  later?: TlsOptions
}

/** RSA whose public exponent is as long as its modulus: e and d of a usual key, exchanged. */
export function costlyKey(bits = 3_072): KeyObject {
  const usual = newKey(bits).export({ format: 'jwk' }) as Record<'p' | 'q' | 'e' | 'd', string>
  const [p, q, e, d] = [usual.p, usual.q, usual.d, usual.e].map(toNumber) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const parts = { e, d, dp: d % (p - 1n), dq: d % (q - 1n) }
  const texts = Object.entries(parts).map(([name, number]) => [name, toText(number)])
  const key = { ...usual, ...Object.fromEntries(texts) } as JsonWebKey
  return createPrivateKey({ key, format: 'jwk' })
}

/** So many certificates, the receiver's own first, all above it under this key. */
export function chainUnder(key: KeyObject, count: number, own: Partial<IssueOptions> = {}) {
  const root = issue({ subject: 'CN=root', isAuthority: true, key })
  let by = root
  const above: string[] = []
  for (let n = 1; n < count; n += 1) {
    by = issue({ subject: `CN=authority ${n}`, by, isAuthority: true, key })
    above.unshift(by.pem)
  }
  const leaf = issue({ subject: 'CN=receiver', by, addresses: ['127.0.0.1'], ...own })
  return { root, options: { key: leaf.keyPem, cert: [leaf.pem, ...above].join('') } }
}

/** A group for Diffie-Hellman that nobody has made a prime of. */
export function groupOf(bits: number): string {
  const modulus = randomBytes(bits / 8)
  modulus[0] = 0xc0 | (modulus[0] ?? 0)
  modulus[modulus.length - 1] = 1 | (modulus.at(-1) ?? 0)
  const number = Buffer.concat([Buffer.from([0]), modulus])
  const text = sequence(der(0x02, number), der(0x02, Buffer.from([2]))).toString('base64')
  return `-----BEGIN DH PARAMETERS-----\n${text}\n-----END DH PARAMETERS-----\n`
}

const SERVE = `
const { parentPort, workerData } = require('node:worker_threads')
const { createSecureContext, createServer } = require('node:tls')
const ANSWER = 'HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n'
const ports = []
for (const { options, later } of workerData) {
  const server = createServer(options, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      if (!later) return socket.end(ANSWER)
      socket.setKeyCert(createSecureContext(later))
      socket.renegotiate({ rejectUnauthorized: false }, () => socket.end(ANSWER))
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1', () => {
    ports.push(server.address().port)
    if (ports.length === workerData.length) parentPort.postMessage(ports)
  })
}
`

/** Each with its port. */
export async function startCostly(t: Owner, receivers: readonly CostlyReceiver[]) {
  const found: (CostlyReceiver & { port: number })[] = []
  for (const receiver of receivers) {
    const { options, later } = receiver
    const worker = new Worker(SERVE, { eval: true, workerData: [{ options, later }] })
    t.after(async () => {
      await worker.terminate()
    })
    const [[port]] = (await once(worker, 'message')) as [[number]]
    found.push({ ...receiver, port })
  }
  return found
}

function toNumber(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}

function toText(number: bigint): string {
  const hex = number.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}
