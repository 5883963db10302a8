// Reads a source ahead into one batch, and no further: the source is asked for more when the batch was taken.
// A slow source is not waited for: what has come goes, so that its results come soon.

export interface Line {
  /** Its number in the source, from 0. */
  index: number
  paymentId: string
  accountId: string
  version: number | null | undefined
  /** With the newline at its end. */
  bytes: Uint8Array
}

export interface ReadLimits {
  linesMax: number
  bytesMax: number
}

/** What comes within this time of another goes with it. */
const LINGER_MS = 5

export class LineReader<Item> {
  readonly #source: Iterator<Item> | AsyncIterator<Item>
  readonly #toLine: (item: Item, index: number) => Line
  readonly #limits: ReadLimits
  #index = 0
  readonly #from: number
  #batch: Line[] = []
  #bytes = 0
  /** The latest version of each payment of the batch. */
  #versions = new Map<string, number | null | undefined>()
  /** Full: a line waits for the next batch. */
  #isFull = false
  #isEnded = false
  #isStarted = false
  #error: { reason: unknown } | undefined
  #wake = () => {}
  #makeRoom = () => {}

  constructor(
    source: Iterable<Item> | AsyncIterable<Item>,
    toLine: (item: Item, index: number) => Line,
    from: number,
    limits: ReadLimits,
  ) {
    this.#source =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
    this.#toLine = toLine
    this.#from = from
    this.#limits = limits
  }

  /** What has come, in order; empty at the end. What came before an error is given first. */
  async take(): Promise<readonly Line[]> {
    if (!this.#isStarted) void this.#read()
    this.#isStarted = true
    while (this.#batch.length === 0 && !this.#isEnded) await this.#changed()
    const isEnough = () => this.#isFull || this.#isEnded
    if (!isEnough()) await this.#changed(LINGER_MS, isEnough)
    if (this.#batch.length === 0 && this.#error) throw this.#error.reason
    const batch = this.#batch
    this.#batch = []
    this.#bytes = 0
    this.#versions = new Map()
    this.#isFull = false
    this.#makeRoom()
    return batch
  }

  /** Ends the reading with an error; what has come and was not taken is dropped. */
  fail(reason: unknown): void {
    this.#batch = []
    this.#end({ reason })
  }

  close(): void {
    this.#end()
    // Not waited for: a source that hangs would hang here too.
    if (this.#isStarted) void Promise.resolve(this.#source.return?.()).catch(() => {})
  }

  async #read(): Promise<void> {
    try {
      while (!this.#isEnded) {
        const { done, value } = await this.#source.next()
        if (done || this.#isEnded) break
        const index = this.#index++
        if (index >= this.#from) await this.#add(this.#toLine(value, index))
      }
      this.#end()
    } catch (reason) {
      this.#end({ reason })
    }
  }

  async #add(line: Line): Promise<void> {
    if (!this.#hasRoomFor(line)) {
      this.#isFull = true
      this.#wake()
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve
      })
      if (this.#isEnded) return
    }
    this.#batch.push(line)
    this.#bytes += line.bytes.length
    this.#versions.set(line.paymentId, line.version)
    this.#wake()
  }

  /** A line that is larger than a batch may be has one of its own. */
  #hasRoomFor({ bytes, paymentId, version }: Line): boolean {
    if (this.#batch.length === 0) return true
    const { linesMax, bytesMax } = this.#limits
    if (this.#batch.length >= linesMax || this.#bytes + bytes.length > bytesMax) return false
    if (!this.#versions.has(paymentId)) return true
    // Sent again after a later one of the same payment, only a version keeps it from going back.
    const earlier = this.#versions.get(paymentId)
    return typeof version === 'number' && typeof earlier === 'number' && version > earlier
  }

  #end(error?: { reason: unknown }): void {
    if (!this.#isEnded) this.#error = error
    this.#isEnded = true
    this.#makeRoom()
    this.#wake()
  }

  /** Waits for the next change, or until `isEnough` after one, for at most `ms`. */
  async #changed(ms?: number, isEnough: () => boolean = () => true): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        if (isEnough()) resolve()
      }
      if (ms !== undefined) timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
    this.#wake = () => {}
  }
}
