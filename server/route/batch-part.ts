// The part of a batch that one cell gets: a request of its own, written as lines come and read as they are answered.

import { PassThrough } from 'node:stream'
import type { ServiceError } from '../core/plain/errors.ts'
import type { Problem } from '../http/basics/problems.ts'
import { readLines, untilDrained } from './lines.ts'
import { type CellAnswer, CellFailure, readAnswer } from './routed-cell.ts'

const PROBLEM_BYTES_MAX = 64 * 1_024
/** A line of an answer has an id, an event or a problem. */
const LINE_BYTES_MAX = 64 * 1_024
/** A cell ends a batch that is silent for 30 s, and few lines may be its own: blank ones keep it waiting. */
const AWAKE_EVERY_MS = 10_000

export class BatchPart {
  readonly cell: number
  readonly #body = new PassThrough()
  readonly #answer: Promise<CellAnswer | CellFailure>
  readonly #awake: NodeJS.Timeout
  #lines: AsyncGenerator<Buffer | null, void> | null = null

  constructor(cell: number, send: (body: PassThrough) => Promise<CellAnswer>) {
    this.cell = cell
    // What the cell does not take is dropped: its lines are answered with the failure.
    this.#body.on('error', () => {})
    this.#answer = send(this.#body).catch((error: unknown) => {
      this.#body.destroy()
      if (error instanceof CellFailure) return error
      throw error
    })
    this.#answer.catch(() => {})
    this.#awake = setInterval(() => {
      if (!this.#body.destroyed && !this.#body.writableEnded) this.#body.write('\n')
    }, AWAKE_EVERY_MS).unref()
    this.#body.once('close', () => clearInterval(this.#awake))
  }

  /** Waits while the cell is behind with reading. */
  async write(line: Buffer): Promise<void> {
    if (this.#body.destroyed) return
    this.#body.write(line)
    if (this.#body.write('\n') || this.#body.destroyed) return
    await untilDrained(this.#body)
  }

  end(): void {
    this.#body.end()
  }

  /** Nothing of it is read any more. */
  drop(): void {
    this.#body.destroy()
    void this.#answer.then(
      (answer) => answer instanceof CellFailure || answer.body.destroy(),
      () => {},
    )
  }

  /** Null when the lines have their own answers; otherwise what all of them are answered with. */
  async refusal(): Promise<CellAnswer | CellFailure | null> {
    const answer = await this.#answer
    if (answer instanceof CellFailure || answer.status !== 200) return answer
    this.#lines = readLines(answer.body, LINE_BYTES_MAX)
    return null
  }

  /** The answer to the next line; null when the cell has broken off. */
  async nextLine(): Promise<string | null> {
    try {
      const { value } = (await this.#lines?.next()) ?? {}
      return value?.toString() ?? null
    } catch {
      return null
    }
  }
}

/** What a line is answered with when its cell has refused the whole part. */
export async function toLineProblem(
  refusal: CellAnswer | CellFailure,
  toProblem: (error: ServiceError) => Problem,
): Promise<Problem> {
  const broken = new CellFailure(refusal.cell, 'away').toServiceError(true)
  if (refusal instanceof CellFailure) return toProblem(refusal.toServiceError(true))
  try {
    const bytes = await readAnswer(refusal, PROBLEM_BYTES_MAX)
    const problem = JSON.parse(bytes?.toString() ?? '') as Problem
    return typeof problem.code === 'string' ? problem : toProblem(broken)
  } catch {
    return toProblem(broken)
  }
}
