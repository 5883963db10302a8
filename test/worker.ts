// Runs test files one after another in one process, as test/run.ts hands them out: a process for each file
// would load the whole service again, which takes longer than most files do. Each file is a test, so that
// what it starts ends with it, before the next file is loaded.

import { resolve } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endDatabases } from './support/database.ts'

/** What a worker is sent. Null: there are no more files. */
export interface FileToRun {
  file: string | null
}

/** What ends by itself, such as a connection that is kept for the next request, has ended by then. */
const LEFT_AFTER_MS = 20_000

test('files', async (t) => {
  letHooksGo(t)
  for (let file = await nextFile(); file !== null; file = await nextFile()) {
    const { href } = pathToFileURL(resolve(file))
    await t.test(file, async () => {
      // As where a file has a process of its own: before what the file itself cleans up, such as its server.
      after(endDatabases)
      await import(href)
    })
  }
  process.disconnect()
  nameWhatIsLeft()
})

/**
 * The runner keeps each test to the end of the process, with its hooks and all that these close over: a server for each of
 * the tests of the interface, a gigabyte in the end, which every collection of garbage went through. So a hook that
 * has run is forgotten.
 */
function letHooksGo(t: TestContext): void {
  const contexts: TestContext = Object.getPrototypeOf(t)
  const { after } = contexts
  contexts.after = function afterOnce(this: TestContext, hook, options) {
    let left = hook as ((this: unknown, ...given: unknown[]) => unknown) | undefined
    const once = function (this: unknown, ...given: unknown[]) {
      const last = left
      left = undefined
      return last?.apply(this, given)
    }
    after.call(this, once, options)
  }
}

/** Said before the process is ended for it (test/worker-process.ts); it does not keep the process itself. */
function nameWhatIsLeft(): void {
  setTimeout(() => {
    console.error(`left running: ${process.getActiveResourcesInfo().join(', ')}`)
  }, LEFT_AFTER_MS).unref()
}

function nextFile(): Promise<string | null> {
  return new Promise((resolve) => {
    process.once('message', ({ file }: FileToRun) => resolve(file))
  })
}
