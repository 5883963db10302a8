// Stands between a socket and OpenSSL until the receiver has shown its certificates. OpenSSL verifies whatever it is
// shown in one stretch of the event loop, and nothing of Node bounds that: a chain of 94 KB took it a second. So each
// record is read here first, and the one that completes a chain that costs too much is never handed on.
//   hello ─▶ in clear     TLS 1.2
//         ─▶ encrypted    TLS 1.3: its records are opened with the secret that OpenSSL agrees on
//         ─▶ open         TLS 1.3: a session is taken up again
//   in clear, encrypted ─▶ open       the certificates are cheap to verify, or in TLS 1.2 a session is taken up again
//                       ─▶ refused    they are not, or it is no handshake
// Once open, it hands everything on and looks at nothing: a handshake has one chain, and is not begun again.

import { isCheapToVerify } from '../../core/certificates/verification-cost.ts'
import { RecordOpener } from './record-opener.ts'
import { readServerHello } from './server-hello.ts'
import { Malformed, WireReader } from './wire-reader.ts'

/** Honest chains have 3 to 6 KiB; three certificates with ML-DSA-65 16, one for 900 names 26. */
const CHAIN_BYTES_MAX = 32 * 1024
/** With the list of authorities that a receiver sends beforehand if it asks for a client certificate: some have hundreds. */
export const SHOWN_BYTES_MAX = 48 * 1024

const RECORD = { changeCipherSpec: 20, alert: 21, handshake: 22, encrypted: 23 } as const
const HEADER_BYTES = 5
/** RFC 5246 §6.2.3 allows more than RFC 8446. */
const RECORD_BYTES_MAX = 16 * 1024 + 2_048
const MESSAGE_HEADER_BYTES = 4
const MESSAGE = {
  helloRequest: 0,
  serverHello: 2,
  newSessionTicket: 4,
  encryptedExtensions: 8,
  certificate: 11,
  certificateRequest: 13,
} as const
const NONE = Buffer.alloc(0)

export type Refusal = 'too-costly' | 'malformed'

export interface GateEnds {
  /** Hands bytes on to OpenSSL. */
  pass(bytes: Buffer): void
  /** Once. Nothing is handed on afterwards. */
  refuse(why: Refusal): void
}

type Phase = 'hello' | 'in-clear' | 'encrypted' | 'open' | 'refused'

export class HandshakeGate {
  readonly #ends: GateEnds
  #phase: Phase = 'hello'
  /** What has come of a record that is not whole, or cannot be opened yet. */
  #unread: Buffer = NONE
  /** Likewise of messages, which may span records. */
  #messages: Buffer = NONE
  #handedOnBytes = 0
  #suite = 0
  #secret: Buffer | null = null
  #opener: RecordOpener | null = null
  #hasRetried = false
  #isGoing = false

  constructor(ends: GateEnds) {
    this.#ends = ends
  }

  get isOpen(): boolean {
    return this.#phase === 'open'
  }

  /** Bytes of the socket. They are kept only as a copy. */
  take(bytes: Buffer): void {
    if (this.#phase === 'open') {
      this.#ends.pass(bytes)
      return
    }
    this.#unread = Buffer.concat([this.#unread, bytes])
    this.#go()
  }

  /** A line of OpenSSL's key log: with one of them the server's records can be opened. */
  learn(line: Buffer): void {
    const [label, , secret = ''] = line.toString('latin1').trim().split(' ')
    if (label !== 'SERVER_HANDSHAKE_TRAFFIC_SECRET' || this.#phase !== 'encrypted') return
    this.#secret ??= Buffer.from(secret, 'hex')
    // OpenSSL is in the middle of its work: what waits is handed on after it.
    if (!this.#isGoing) setImmediate(() => this.#go())
  }

  #go(): void {
    this.#isGoing = true
    try {
      for (let record = this.#next(); record !== null; record = this.#next()) this.#handOn(record)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      this.#refuse('malformed')
    } finally {
      this.#isGoing = false
    }
    if (this.#phase !== 'open') return
    const rest = this.#unread
    this.#unread = NONE
    this.#messages = NONE
    if (rest.length > 0) this.#ends.pass(rest)
  }

  #next(): Buffer | null {
    if (this.#phase === 'open' || this.#phase === 'refused') return null
    // OpenSSL has not read the hello yet.
    if (this.#phase === 'encrypted' && this.#secret === null) return null
    if (this.#unread.length < HEADER_BYTES) return null
    const [type = 0, major] = this.#unread
    const length = this.#unread.readUInt16BE(3)
    const isKnown = type >= RECORD.changeCipherSpec && type <= RECORD.encrypted && major === 3
    if (!isKnown || length === 0 || length > RECORD_BYTES_MAX) throw new Malformed('no record')
    const end = HEADER_BYTES + length
    if (this.#unread.length < end) return null
    const record = this.#unread.subarray(0, end)
    this.#unread = this.#unread.subarray(end)
    return record
  }

  #handOn(record: Buffer): void {
    this.#look(record)
    if (this.#phase === 'refused') return
    this.#handedOnBytes += record.length
    if (this.#phase !== 'open' && this.#handedOnBytes > SHOWN_BYTES_MAX) this.#refuse('too-costly')
    else this.#ends.pass(record)
  }

  #look(record: Buffer): void {
    const [type] = record
    // An alert completes no message: OpenSSL may have it.
    if (type === RECORD.alert) return
    if (type === RECORD.changeCipherSpec) {
      // In TLS 1.2 the session is taken up again; in TLS 1.3 it means nothing.
      if (this.#phase === 'in-clear') this.#phase = 'open'
      return
    }
    if (this.#phase === 'encrypted') {
      if (type !== RECORD.encrypted) throw new Malformed('not encrypted')
      this.#readEncrypted(record)
      return
    }
    if (type !== RECORD.handshake) throw new Malformed('encrypted before the hello')
    this.#read(record.subarray(HEADER_BYTES))
  }

  #readEncrypted(record: Buffer): void {
    this.#opener ??= new RecordOpener(this.#suite, this.#secret ?? NONE)
    const { type, content } = this.#opener.open(record)
    if (type === RECORD.handshake) this.#read(content)
    else if (type !== RECORD.alert) throw new Malformed('data before the certificate')
  }

  #read(content: Buffer): void {
    if (content.length === 0) throw new Malformed('a handshake record without content')
    this.#messages = Buffer.concat([this.#messages, content])
    while (this.#messages.length >= MESSAGE_HEADER_BYTES) {
      const type = this.#messages[0]
      const end = MESSAGE_HEADER_BYTES + this.#messages.readUIntBE(1, 3)
      if (end > (type === MESSAGE.certificate ? CHAIN_BYTES_MAX : SHOWN_BYTES_MAX)) {
        this.#refuse('too-costly')
        return
      }
      if (this.#messages.length < end) return
      const body = this.#messages.subarray(MESSAGE_HEADER_BYTES, end)
      this.#messages = this.#messages.subarray(end)
      this.#judge(type, body)
      if (this.#phase === 'open' || this.#phase === 'refused') return
    }
  }

  #judge(type: number | undefined, body: Buffer): void {
    if (this.#phase === 'hello') {
      if (type === MESSAGE.serverHello) this.#hear(body)
      else if (type !== MESSAGE.helloRequest) throw new Malformed('no hello')
    } else if (type === MESSAGE.certificate) this.#judgeChain(body)
    else if (this.#phase === 'in-clear') {
      if (type !== MESSAGE.newSessionTicket && type !== MESSAGE.helloRequest) {
        throw new Malformed('no certificate')
      }
    } else if (type !== MESSAGE.encryptedExtensions && type !== MESSAGE.certificateRequest) {
      throw new Malformed('no certificate')
    }
  }

  #hear(body: Buffer): void {
    const hello = readServerHello(body)
    if (hello.kind === 'in-clear') {
      this.#phase = 'in-clear'
      return
    }
    // Keys change here: what is encrypted begins with a record of its own (RFC 8446 §5.1).
    if (this.#messages.length > 0) throw new Malformed('something follows the hello')
    if (hello.kind === 'resumed') this.#phase = 'open'
    else if (hello.kind === 'encrypted') {
      this.#phase = 'encrypted'
      this.#suite = hello.suite
    } else if (this.#hasRetried) throw new Malformed('a second retry')
    else this.#hasRetried = true
  }

  #judgeChain(body: Buffer): void {
    const chain = this.#phase === 'encrypted' ? readChain13(body) : readChain12(body)
    if (isCheapToVerify(chain)) this.#phase = 'open'
    else this.#refuse('too-costly')
  }

  #refuse(why: Refusal): void {
    if (this.#phase === 'refused') return
    this.#phase = 'refused'
    this.#unread = NONE
    this.#messages = NONE
    this.#ends.refuse(why)
  }
}

/** RFC 5246 §7.4.2. */
function readChain12(body: Buffer): readonly Buffer[] {
  const reader = new WireReader(body)
  const list = new WireReader(reader.vector(3))
  reader.end()
  const chain: Buffer[] = []
  while (!list.isAtEnd) chain.push(list.vector(3))
  return chain
}

/** RFC 8446 §4.4.2: each with extensions. */
function readChain13(body: Buffer): readonly Buffer[] {
  const reader = new WireReader(body)
  reader.vector(1) // certificate_request_context
  const list = new WireReader(reader.vector(3))
  reader.end()
  const chain: Buffer[] = []
  while (!list.isAtEnd) {
    chain.push(list.vector(3))
    list.vector(2)
  }
  return chain
}
