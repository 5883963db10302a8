/** Whoever a thing is started for: a test, or a whole file. When it is done, the thing goes. */
export interface Owner {
  after(run: () => Promise<void> | void): void
}
