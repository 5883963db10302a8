// Whether a client is active, as this process last heard. That it is, is believed for 2 seconds, so a
// disabled client's tokens stop working well within the promised 5, in every process. That it is not, is
// never believed of the past: who was enabled a moment ago, here or elsewhere, is let in at once.

import { type Client, findClient } from '../../store/clients.ts'
import type { Deps } from './deps.ts'

const BELIEVED_MS = 2_000
const CLIENTS_MAX = 10_000

interface Question {
  /** Which one it is: they are counted. */
  number: number
  askedAtMs: number
  answer: Promise<Client | null>
  /** The answer once it is there and may be believed. */
  heard?: Client
}

export class ClientDirectory {
  readonly #deps: Pick<Deps, 'pool' | 'clock'>
  readonly #questions = new Map<string, Question>()
  #asked = 0

  constructor(deps: Pick<Deps, 'pool' | 'clock'>) {
    this.#deps = deps
  }

  /** The client if it exists and is active. Callers at the same time share one query. */
  async findActive(clientId: string): Promise<Client | null> {
    const askedBefore = this.#asked
    const nowMs = this.#deps.clock.monotonicMs()
    for (;;) {
      const question = this.#believed(clientId, nowMs) ?? this.#ask(clientId, nowMs)
      const client = ifActive(await question.answer)
      // A refusal holds for whoever came before it was asked for; it may be out of date for later ones.
      if (client !== null || question.number > askedBefore) return client
    }
  }

  /** The same as far as it has been heard and is believed; undefined if it must be asked for. */
  recallActive(clientId: string): Client | undefined {
    return this.#believed(clientId, this.#deps.clock.monotonicMs())?.heard
  }

  #believed(clientId: string, nowMs: number): Question | undefined {
    const last = this.#questions.get(clientId)
    return last !== undefined && nowMs - last.askedAtMs < BELIEVED_MS ? last : undefined
  }

  #ask(clientId: string, askedAtMs: number): Question {
    const answer = findClient(this.#deps.pool, clientId)
    const question: Question = { number: ++this.#asked, askedAtMs, answer }
    this.#questions.delete(clientId)
    this.#questions.set(clientId, question)
    if (this.#questions.size > CLIENTS_MAX) {
      const [oldest] = this.#questions.keys()
      this.#questions.delete(oldest as string)
    }
    const forget = () => {
      if (this.#questions.get(clientId) === question) this.#questions.delete(clientId)
    }
    answer.then(
      (client) => {
        const active = ifActive(client)
        if (active === null) forget()
        else question.heard = active
      },
      // A failed question is nobody's answer: the next caller asks again.
      forget,
    )
    return question
  }
}

function ifActive(client: Client | null): Client | null {
  return client?.status === 'ACTIVE' ? client : null
}
