// Work that can be long, as a generator that yields wherever it may be interrupted: whoever runs it decides whether
// other work goes in between. Between two yields lie a few milliseconds, whatever the input is.

export type Steps<T> = Generator<void, T, void>

/** All of it at once, where nothing else waits. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
