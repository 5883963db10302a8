// Seeded dice (sfc32): the only chance in a simulation. Streams of their own for the plan, the world
// and each node keep one draw more in one of them from changing every other.

export class Dice {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.#a = seed | 0
    this.#b = (seed / 0x1_0000_0000) | 0
    this.#c = stream | 0
    // The first rounds still show the seed.
    for (let round = 0; round < 12; round++) this.next()
  }

  /** In [0, 1). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 0x1_0000_0000
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** A whole number in [least, most]. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  pick<T>(among: readonly T[]): T {
    return among[Math.floor(this.next() * among.length)] as T
  }

  /** Mostly short, now and then long: small values are as likely as their logarithm says. */
  skewed(least: number, most: number): number {
    return least * (most / least) ** this.next()
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count; at++) bytes[at] = Math.floor(this.next() * 256)
    return bytes
  }
}
