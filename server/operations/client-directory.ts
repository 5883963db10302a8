// Whether a client is active, as this process last heard. An answer is believed for 2 seconds, so a
// disabled client's tokens stop working well within the promised 5, in every process.

import { type Client, findClient } from '../store/clients.ts'
import type { Deps } from './deps.ts'

const BELIEVED_MS = 2_000
const CLIENTS_MAX = 10_000

interface Question {
  askedAtMs: number
  answer: Promise<Client | null>
  /** The answer once it is there. */
  heard?: Client | null
}

export class ClientDirectory {
  readonly #deps: Pick<Deps, 'pool' | 'clock'>
  readonly #questions = new Map<string, Question>()

  constructor(deps: Pick<Deps, 'pool' | 'clock'>) {
    this.#deps = deps
  }

  /** The client if it exists and is active. Callers at the same time share one query. */
  async findActive(clientId: string): Promise<Client | null> {
    const nowMs = this.#deps.clock.monotonicMs()
    return ifActive(await (this.#believed(clientId, nowMs)?.answer ?? this.#ask(clientId, nowMs)))
  }

  /** The same as far as it has been heard and is believed; undefined if it must be asked for. */
  recallActive(clientId: string): Client | null | undefined {
    const heard = this.#believed(clientId, this.#deps.clock.monotonicMs())?.heard
    return heard === undefined ? undefined : ifActive(heard)
  }

  /** What was heard of this client is no longer believed. */
  forget(clientId: string): void {
    this.#questions.delete(clientId)
  }

  #believed(clientId: string, nowMs: number): Question | undefined {
    const last = this.#questions.get(clientId)
    return last !== undefined && nowMs - last.askedAtMs < BELIEVED_MS ? last : undefined
  }

  #ask(clientId: string, askedAtMs: number): Promise<Client | null> {
    const question: Question = { askedAtMs, answer: findClient(this.#deps.pool, clientId) }
    this.#questions.delete(clientId)
    this.#questions.set(clientId, question)
    if (this.#questions.size > CLIENTS_MAX) {
      const [oldest] = this.#questions.keys()
      this.#questions.delete(oldest as string)
    }
    // A failed question is nobody's answer: the next caller asks again.
    question.answer.then(
      (client) => {
        question.heard = client
      },
      () => {
        if (this.#questions.get(clientId) === question) this.#questions.delete(clientId)
      },
    )
    return question.answer
  }
}

function ifActive(client: Client | null): Client | null {
  return client?.status === 'ACTIVE' ? client : null
}
