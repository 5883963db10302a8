/** What a resource is started for: a test, or a whole file. The resource ends with it. */
export interface Owner {
  after(task: () => Promise<void> | void): void
}
