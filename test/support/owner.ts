// Whose resource it is: it ends with its owner.

/** What a resource is started for: a test, or a whole file. The resource ends with it. */
export interface Owner {
  after(task: () => Promise<void> | void): void
}

export interface CleanUps extends Owner {
  after(task: () => unknown): void
  cleanUp(): Promise<void>
}

/** Of a file or a program that ends what it has begun by itself, the latest first. */
export function collectCleanUps(): CleanUps {
  const tasks: (() => unknown)[] = []
  return {
    after: (task) => void tasks.push(task),
    cleanUp: async () => {
      for (const task of tasks.toReversed()) await task()
    },
  }
}
