// Reads DER (X.690 §10) one element after another, strictly: what another reader could take for something else, such as a
// length in more bytes than it needs, is not DER here. Strangers choose the bytes.

/** Of more bytes no certificate is made that is read here. */
const LENGTH_BYTES_MAX = 3

export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** The tag of what comes next; -1 at the end. */
  get nextTag(): number {
    return this.#bytes[this.#at] ?? -1
  }

  /** What comes next has to have this tag. */
  read(tag: number): Uint8Array {
    if (this.nextTag !== tag) throw new NotDer(`tag ${this.nextTag} in place of ${tag}`)
    this.#at += 1
    const length = this.#readLength()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new NotDer('it ends too soon')
    const content = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return content
  }

  /** All of it has to be this one element. */
  readOnly(tag: number): Uint8Array {
    const content = this.read(tag)
    if (!this.isAtEnd) throw new NotDer('something follows')
    return content
  }

  #readLength(): number {
    const first = this.#next()
    if (first < 0x80) return first
    const count = first & 0x7f
    if (count === 0 || count > LENGTH_BYTES_MAX) throw new NotDer('a length of another form')
    let length = 0
    for (let n = 0; n < count; n += 1) length = length * 256 + this.#next()
    if (length < 0x80 || length < 256 ** (count - 1)) throw new NotDer('a length too long')
    return length
  }

  #next(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new NotDer('it ends too soon')
    this.#at += 1
    return byte
  }
}

export class NotDer extends Error {
  constructor(what: string) {
    super(`no DER: ${what}`)
    this.name = 'NotDer'
  }
}
