// A mutex for each key: this process never handles two updates of one payment at once.

export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Calls `work` when all earlier calls with the key have ended; resolves with undefined, without calling
   * it, when they take longer than `waitMsMax`.
   */
  async withLock<Result>(
    key: string,
    waitMsMax: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const before = this.#last.get(key)
    let end = () => {}
    const mine = new Promise<void>((resolve) => {
      end = resolve
    })
    // A caller that gives up stays in the queue: the next one must not overtake the work under way.
    const last = before ? before.then(() => mine) : mine
    this.#last.set(key, last)
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    })
    try {
      if (before && !(await isOverWithin(before, waitMsMax))) return undefined
      return await work()
    } finally {
      end()
    }
  }
}

async function isOverWithin(promise: Promise<void>, limitMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  const isOver = await Promise.race([promise.then(() => true as const), late])
  clearTimeout(timer)
  return isOver
}
