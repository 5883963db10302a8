// One at a time for each key: two updates of one payment never run at once in this process.

export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs when all earlier ones of the key have ended; undefined when that takes longer than `waitMsMax`. */
  async take<Result>(
    key: string,
    waitMsMax: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const before = this.#last.get(key)
    let end = () => {}
    const mine = new Promise<void>((resolve) => {
      end = resolve
    })
    // Whoever gives up still waits in the chain: the next one must not overtake the running one.
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
