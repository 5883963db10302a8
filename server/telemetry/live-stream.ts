// Server-sent events of what this process accepts and attempts, as it happens. Limits: the number of readers,
// the events per second, and the bytes that a reader may be behind.

import type { ServerResponse } from 'node:http'
import type { AcceptedEvent, AttemptedEvent } from './live-events.ts'

export interface LiveStreamLimits {
  readersMax: number
  /** Further events within a second are only counted; a comment line says how many. */
  eventsPerSecondMax: number
  /** A reader that is behind by more than this is dropped. */
  bytesBehindMax: number
  /** Events are buffered and written together at this interval. */
  writeEveryMs: number
  /** A comment line keeps proxies from closing a silent connection. */
  commentEveryMs: number
}

export const LIVE_STREAM_LIMITS: LiveStreamLimits = {
  readersMax: 100,
  eventsPerSecondMax: 1_000,
  bytesBehindMax: 1024 * 1024,
  writeEveryMs: 50,
  commentEveryMs: 15_000,
}

/** What a page shows before anything happens. */
const RECENT_ATTEMPTS = 20

export class LiveStream {
  readonly #limits: LiveStreamLimits
  readonly #readers = new Set<ServerResponse>()
  readonly #recent: (() => AttemptedEvent)[] = []
  #attempts = 0
  #text = ''
  #eventsThisSecond = 0
  #leftOut = 0
  #writeTimer: NodeJS.Timeout | undefined
  #secondTimer: NodeJS.Timeout | undefined
  #commentTimer: NodeJS.Timeout | undefined

  constructor(limits: LiveStreamLimits = LIVE_STREAM_LIMITS) {
    this.#limits = limits
  }

  /** Ask before making an event: most of the time there is no reader. */
  get isWatched(): boolean {
    return this.#readers.size > 0
  }

  get isFull(): boolean {
    return this.#readers.size >= this.#limits.readersMax
  }

  accepted(event: AcceptedEvent): void {
    this.#publish('accepted', event)
  }

  /** Made only when a reader gets it: of ten thousand a second, the last few are remembered as they came. */
  attempted(make: () => AttemptedEvent): void {
    this.#recent[this.#attempts++ % RECENT_ATTEMPTS] = make
    if (this.isWatched) this.#publish('attempt', make())
  }

  /**
   * Adds an answer whose headers are sent: first so many of the last attempts, oldest first, then what happens
   * until it closes. One whose reader has hung up says so only once, which was before: it is not added.
   */
  add(reader: ServerResponse, recent = 0): void {
    if (reader.destroyed) return
    // What was published and not yet written is among the last attempts: other readers get it now.
    if (recent > 0) this.#flush()
    this.#readers.add(reader)
    reader.once('close', () => this.#remove(reader))
    reader.on('error', () => this.#remove(reader))
    reader.write(`: watching\n\n${this.#lastAttempts(recent)}`)
    if (this.#readers.size > 1) return
    this.#commentTimer = setInterval(
      () => this.#send(': still here\n\n'),
      this.#limits.commentEveryMs,
    )
    this.#secondTimer = setInterval(() => this.#endSecond(), 1_000)
    this.#commentTimer.unref()
    this.#secondTimer.unref()
  }

  /** Ends all answers, because the service stops. */
  end(): void {
    this.#flush()
    for (const reader of this.#readers) reader.end()
  }

  #lastAttempts(recent: number): string {
    let text = ''
    const count = Math.min(recent, RECENT_ATTEMPTS, this.#attempts)
    for (let at = this.#attempts - count; at < this.#attempts; at++) {
      const make = this.#recent[at % RECENT_ATTEMPTS]
      if (make !== undefined) text += toText('attempt', make())
    }
    return text
  }

  #publish(name: string, event: object): void {
    if (this.#readers.size === 0) return
    if (this.#eventsThisSecond >= this.#limits.eventsPerSecondMax) {
      this.#leftOut++
      return
    }
    this.#eventsThisSecond++
    this.#text += toText(name, event)
    this.#writeTimer ??= setTimeout(() => this.#flush(), this.#limits.writeEveryMs)
  }

  #flush(): void {
    clearTimeout(this.#writeTimer)
    this.#writeTimer = undefined
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#send(text)
  }

  #endSecond(): void {
    if (this.#leftOut > 0) this.#send(`: ${this.#leftOut} left out\n\n`)
    this.#leftOut = 0
    this.#eventsThisSecond = 0
  }

  #send(text: string): void {
    for (const reader of this.#readers) {
      reader.write(text)
      if (reader.writableLength > this.#limits.bytesBehindMax) {
        this.#remove(reader)
        reader.destroy()
      }
    }
  }

  #remove(reader: ServerResponse): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return
    clearInterval(this.#commentTimer)
    clearInterval(this.#secondTimer)
    clearTimeout(this.#writeTimer)
    this.#writeTimer = undefined
    this.#text = ''
    this.#leftOut = 0
    this.#eventsThisSecond = 0
  }
}

function toText(name: string, event: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`
}
