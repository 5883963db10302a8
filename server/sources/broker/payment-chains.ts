// Runs work of one payment one after the other and in order, of different payments at once. Work without a
// payment does not wait.

export class PaymentChains {
  readonly #last = new Map<string, Promise<void>>()
  readonly #underWay = new Set<Promise<void>>()

  /** `work` never rejects. It begins when all earlier work of this payment has ended. */
  add(paymentId: string | null, work: () => Promise<void>): void {
    const before = paymentId === null ? undefined : this.#last.get(paymentId)
    const done = before === undefined ? work() : before.then(work)
    this.#underWay.add(done)
    if (paymentId !== null) this.#last.set(paymentId, done)
    void done.finally(() => {
      this.#underWay.delete(done)
      if (paymentId !== null && this.#last.get(paymentId) === done) this.#last.delete(paymentId)
    })
  }

  /** Resolves when everything that was added has ended. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
