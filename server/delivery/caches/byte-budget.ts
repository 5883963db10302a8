// Bounds how many bytes of files are in memory at once. Those that have to wait are let in in the order of
// asking; one that is larger than the whole budget, when it is alone.

interface Waiting {
  bytes: number
  enter(): void
}

export class ByteBudget {
  readonly #bytesMax: number
  #waiting: Waiting[] = []
  #taken = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Resolves, when there is room, with the function that gives it back. */
  async take(bytes: number): Promise<() => void> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }))
    } else {
      this.#taken += bytes
    }
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#taken -= bytes
      this.#letIn()
    }
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#bytesMax
  }

  #letIn(): void {
    while (this.#waiting[0] !== undefined && this.#fits(this.#waiting[0].bytes)) {
      const { bytes, enter } = this.#waiting.shift() as Waiting
      this.#taken += bytes
      enter()
    }
  }
}
