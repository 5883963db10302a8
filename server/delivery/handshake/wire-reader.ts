// Reads the presentation language of TLS (RFC 8446 §3): numbers, and vectors that begin with their length.

export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  bytes(count: number): Buffer {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new Malformed('it ends too soon')
    const read = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return read
  }

  number(byteCount: 1 | 2 | 3): number {
    return this.bytes(byteCount).readUIntBE(0, byteCount)
  }

  vector(lengthBytes: 1 | 2 | 3): Buffer {
    return this.bytes(this.number(lengthBytes))
  }

  end(): void {
    if (!this.isAtEnd) throw new Malformed('something follows')
  }
}

/** What no server sends that speaks TLS 1.2 or 1.3. */
export class Malformed extends Error {
  constructor(what: string) {
    super(`malformed: ${what}`)
    this.name = 'Malformed'
  }
}
