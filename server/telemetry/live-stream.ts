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

export class LiveStream {
  readonly #limits: LiveStreamLimits
  readonly #readers = new Set<ServerResponse>()
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

  attempted(event: AttemptedEvent): void {
    this.#publish('attempt', event)
  }

  /** Adds an answer whose headers are sent; the stream writes to it until it closes. */
  add(reader: ServerResponse): void {
    this.#readers.add(reader)
    reader.once('close', () => this.#remove(reader))
    reader.on('error', () => this.#remove(reader))
    reader.write(': watching\n\n')
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

  #publish(name: string, event: object): void {
    if (this.#readers.size === 0) return
    if (this.#eventsThisSecond >= this.#limits.eventsPerSecondMax) {
      this.#leftOut++
      return
    }
    this.#eventsThisSecond++
    this.#text += `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`
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
