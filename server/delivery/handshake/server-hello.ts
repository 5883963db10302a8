// The ServerHello (RFC 8446 §4.1.3, RFC 5246 §7.4.1.3): which version of TLS was chosen, and with which cipher. Read
// strictly: what OpenSSL could take for another version is malformed here.

import { Malformed, WireReader } from './wire-reader.ts'

export type ServerHello =
  /** TLS 1.2: the certificates come in clear. */
  | { kind: 'in-clear' }
  /** TLS 1.3: everything that follows is encrypted. */
  | { kind: 'encrypted'; suite: number }
  /** TLS 1.3: a session is taken up again, and no certificate is shown. OpenSSL refuses that where none was offered. */
  | { kind: 'resumed' }
  /** TLS 1.3: the client has to say hello again. */
  | { kind: 'retry' }

/** SHA-256 of "HelloRetryRequest": in place of a random. */
const RETRY = 'cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c'
const RANDOM_BYTES = 32
const PRE_SHARED_KEY = 41
const SUPPORTED_VERSIONS = 43
const TLS_1_3 = 0x0304

export function readServerHello(body: Buffer): ServerHello {
  const reader = new WireReader(body)
  reader.number(2) // legacy_version
  const random = reader.bytes(RANDOM_BYTES)
  reader.vector(1) // session id
  const suite = reader.number(2)
  reader.number(1) // compression
  const extensions = readExtensions(reader)
  const version = extensions.get(SUPPORTED_VERSIONS)
  if (version === undefined) return { kind: 'in-clear' }
  if (version.length !== 2 || version.readUInt16BE() !== TLS_1_3) {
    throw new Malformed('an odd version')
  }
  if (random.toString('hex') === RETRY) return { kind: 'retry' }
  return extensions.has(PRE_SHARED_KEY) ? { kind: 'resumed' } : { kind: 'encrypted', suite }
}

function readExtensions(reader: WireReader): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>()
  // TLS 1.2 may leave them out altogether.
  if (reader.isAtEnd) return found
  const list = new WireReader(reader.vector(2))
  reader.end()
  while (!list.isAtEnd) {
    const type = list.number(2)
    if (found.has(type)) throw new Malformed('an extension twice')
    found.set(type, list.vector(2))
  }
  return found
}
