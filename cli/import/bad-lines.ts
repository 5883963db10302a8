// Reports refused lines on stderr and, with --bad, in a file of NDJSON, each with its number and its
// problem. An import that goes on cuts off the end of the file that it will report again.

import { type FileHandle, open } from 'node:fs/promises'
import { safe } from '../basics/terminal.ts'
import type { LineOutcome } from './send-lines.ts'

/** With a file that has all of them, the terminal shows so many. */
const SHOWN_MAX = 20

export class BadLines {
  readonly #file: FileHandle | null
  readonly #path: string | null
  readonly #tell: (text: string) => void
  #bytes: number
  #shown = 0

  private constructor(
    file: FileHandle | null,
    path: string | null,
    bytes: number,
    tell: (text: string) => void,
  ) {
    this.#file = file
    this.#path = path
    this.#bytes = bytes
    this.#tell = tell
  }

  static async open(
    path: string | null,
    keepBytes: number,
    tell: (text: string) => void,
  ): Promise<BadLines> {
    if (path === null) return new BadLines(null, null, 0, tell)
    const file = await open(path, keepBytes > 0 ? 'a' : 'w', 0o600)
    const { size } = await file.stat()
    // A file other than last time's is shorter: then there is nothing to cut off.
    if (keepBytes > 0 && size > keepBytes) await file.truncate(keepBytes)
    return new BadLines(file, path, Math.min(size, keepBytes), tell)
  }

  get bytes(): number {
    return this.#bytes
  }

  async add(outcomes: readonly LineOutcome[]): Promise<void> {
    const bad = outcomes.filter(({ kind }) => kind === 'bad')
    if (bad.length === 0) return
    for (const outcome of bad) this.#sayOne(outcome)
    if (this.#file === null) return
    const text = bad
      .map(({ line, id, problem }) => `${JSON.stringify({ line, id, problem })}\n`)
      .join('')
    await this.#file.appendFile(text)
    await this.#file.sync()
    this.#bytes += Buffer.byteLength(text)
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }

  #sayOne({ line, id, problem }: LineOutcome): void {
    if (this.#path !== null && this.#shown >= SHOWN_MAX) {
      if (this.#shown === SHOWN_MAX) this.#tell(`All bad lines are in ${this.#path}.`)
      this.#shown = SHOWN_MAX + 1
      return
    }
    this.#shown++
    const fields = (problem?.errors ?? [])
      .map((field) => ` ${safe(field.pointer ?? '')}: ${safe(field.detail ?? field.code ?? '')}`)
      .join('')
    const whose = id === null ? '' : ` (payment ${id})`
    this.#tell(
      `line ${line}${whose}: ${safe(problem?.code ?? 'refused')}: ${safe(problem?.detail ?? '')}${fields}`,
    )
  }
}
