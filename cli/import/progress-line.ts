// Progress of an import: one line that is overwritten on a terminal, a sentence now and then in a log.

import { formatCount, formatDuration } from '../basics/terminal.ts'

export interface ProgressView {
  lines: number
  bad: number
  /** Of the input; null where its size is not known. */
  fraction: number | null
}

const BAR_WIDTH = 24
const REDRAW_EVERY_MS = 200
const SENTENCE_EVERY_MS = 10_000

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #startedAtMs = performance.now()
  readonly #linesBefore: number
  readonly #fractionBefore: number
  #drawnAtMs = -REDRAW_EVERY_MS
  #isDrawn = false

  constructor(stream: NodeJS.WriteStream, before: ProgressView) {
    this.#stream = stream
    this.#linesBefore = before.lines
    this.#fractionBefore = before.fraction ?? 0
  }

  show(view: ProgressView): void {
    const nowMs = performance.now()
    const everyMs = this.#stream.isTTY ? REDRAW_EVERY_MS : SENTENCE_EVERY_MS
    if (nowMs - Math.max(this.#drawnAtMs, this.#stream.isTTY ? 0 : this.#startedAtMs) < everyMs)
      return
    this.#drawnAtMs = nowMs
    const text = this.#text(view, nowMs - this.#startedAtMs)
    if (!this.#stream.isTTY) {
      this.#stream.write(`${text}\n`)
      return
    }
    this.#isDrawn = true
    this.#stream.write(`\r\u001b[2K${text}`)
  }

  /** Makes room for a sentence; the line is drawn again with the next call. */
  clear(): void {
    if (this.#isDrawn) this.#stream.write('\r\u001b[2K')
    this.#isDrawn = false
    if (this.#stream.isTTY) this.#drawnAtMs = -REDRAW_EVERY_MS
  }

  #text({ lines, bad, fraction }: ProgressView, elapsedMs: number): string {
    const perSecond = Math.round((lines - this.#linesBefore) / Math.max(elapsedMs / 1_000, 0.001))
    const parts = [`${formatCount(lines)} lines`, `${formatCount(perSecond)}/s`]
    if (bad > 0) parts.push(`${formatCount(bad)} bad`)
    if (fraction === null) return parts.join('  ')
    const done = fraction - this.#fractionBefore
    if (done > 0 && fraction < 1) {
      parts.push(`${formatDuration((elapsedMs / done) * (1 - fraction))} to go`)
    }
    const filled = Math.round(Math.min(1, fraction) * BAR_WIDTH)
    const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled)
    return `[${bar}] ${String(Math.floor(fraction * 100)).padStart(3)} %  ${parts.join('  ')}`
  }
}
