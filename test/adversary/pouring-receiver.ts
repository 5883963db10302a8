// A receiver that seals its records of TLS 1.3 by itself, once OpenSSL has done the handshake: it pours in what costs the other
// side CPU and is no answer. A record of 16 KB holds 910 session tickets, or one key update of 5 bytes.

import { createCipheriv, createHmac } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { TLSSocket, type TlsOptions } from 'node:tls'

const SUITE = 'TLS_AES_128_GCM_SHA256'
const HANDSHAKE = 22
const DATA = 23
const CONTENT_BYTES_MAX = 16_384
/** Lifetime, age, no nonce, one byte of ticket, no extensions. */
export const TICKET = Buffer.from([4, 0, 0, 14, 0, 0, 14, 16, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0])
export const TICKETS = Buffer.concat(
  Array(Math.floor(CONTENT_BYTES_MAX / TICKET.length)).fill(TICKET),
)
/** The next record is sealed with the next key. */
export const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0])

export interface Pouring {
  /** Of each record. */
  content: Buffer
  records: number
  answer: string
  /** Whether it answers first. */
  isAfter: boolean
}

/** To each request of each connection. */
export async function startPouring(
  t: TestContext,
  tls: TlsOptions,
  { content, records, answer, isAfter }: Pouring,
): Promise<{ port: number }> {
  const connections: Socket[] = []
  const server = createServer((raw) => {
    connections.push(raw.on('error', () => {}))
    const sealer = new Sealer()
    const own = { minVersion: 'TLSv1.3', ciphers: SUITE, isServer: true } as const
    const socket = new TLSSocket(raw, { ...tls, ...own })
    socket.on('error', () => {})
    socket.on('keylog', (line: Buffer) => {
      const [label, , value = ''] = line.toString().trim().split(' ')
      if (label === 'SERVER_TRAFFIC_SECRET_0') sealer.secret = Buffer.from(value, 'hex')
    })
    socket.on('data', () => {
      const flood = () => Array.from({ length: records }, () => sealer.seal(HANDSHAKE, content))
      const answered = () => [sealer.seal(DATA, Buffer.from(answer))]
      const parts = isAfter ? [answered, flood] : [flood, answered]
      raw.write(Buffer.concat(parts.flatMap((part) => part())))
    })
  })
  t.after(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { port }
}

/** RFC 8446 §5.2, §7.2, §7.3. A server made by hand sends no tickets of its own, so this one begins at the first record. */
class Sealer {
  secret: Buffer = Buffer.alloc(0)
  #sequence = 0

  seal(type: number, content: Buffer): Buffer {
    const nonce = expand(this.secret, 'iv', 12)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence) >>> 0, 8)
    const header = Buffer.from([DATA, 3, 3, 0, 0])
    header.writeUInt16BE(content.length + 1 + 16, 3)
    const cipher = createCipheriv('aes-128-gcm', expand(this.secret, 'key', 16), nonce)
    const body = cipher.setAAD(header).update(Buffer.concat([content, Buffer.from([type])]))
    this.#sequence += 1
    if (content === KEY_UPDATE) {
      this.secret = expand(this.secret, 'traffic upd', 32)
      this.#sequence = 0
    }
    return Buffer.concat([header, body, cipher.final(), cipher.getAuthTag()])
  }
}

/** HKDF-Expand-Label, one block. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.from([0, length, name.length, ...name, 0, 1])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}
