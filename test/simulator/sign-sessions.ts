// The sessions of the simulated processes at their database, as far as they are signs. What the server knows of a session
// and what its process knows of it are two things: a session that was cut has ended, and its process may be frozen, may
// not have been told, and goes on.

import type { SignSession } from '../../server/delivery/seams/environment.ts'
import { call, type StoreLink } from './node-store.ts'
import { SERVER } from './twin-leases.ts'

interface Session {
  processId: string
  /** Tells its process, when and if that hears of it. */
  tell(): void
}

export class SignSessions {
  readonly #open = new Map<string, Session>()
  #made = 0

  /** As a process sees it, across the network. */
  async open(link: StoreLink, processId: string, onEnd: () => void): Promise<SignSession> {
    const name = `${SERVER}/${++this.#made}`
    const tell = () => link.arrive(link.dice.skewed(0.2, 50), 'sign ended', onEnd)
    await call(link, 'openSign', () => this.#open.set(name, { processId, tell }))
    return {
      name,
      beat: (watched) => {
        const asked = [...watched]
        return call(link, 'beat', () => {
          if (!this.#open.has(name)) throw new Error('the session has ended')
          return asked.filter((other) => !this.#open.has(other))
        })
      },
      close: () =>
        void link.travel(link.dice.skewed(0.2, 50), 'sign closed', () => this.#open.delete(name)),
    }
  }

  /** The server ends what the process has; its process is told, or not. */
  end(processId: string, isTold: boolean): number {
    const ended = [...this.#open].filter(([, session]) => session.processId === processId)
    for (const [name, { tell }] of ended) {
      this.#open.delete(name)
      if (isTold) tell()
    }
    return ended.length
  }
}
