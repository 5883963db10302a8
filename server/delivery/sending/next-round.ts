// Calls back when the event loop has looked at all sockets once more. What a receiver did to an idle socket, its end
// or bytes that nobody asked for, is known then. One turn of the loop serves all who wait for it.

export interface Looking {
  onRound(): void
}

export class NextRound {
  #waiting: Looking[] = []

  add(one: Looking): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#callAll())
  }

  #callAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.onRound()
  }
}
