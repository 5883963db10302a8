// Writes down what was compiled for the next start. Node does so when the process ends: at the end of a first run that took
// one to three seconds, on a busy machine longer, of the time in which a process that stops has promised to be gone.

import { flushCompileCache } from 'node:module'

/** Holds the loop for as long, so before anything is served. From the second start on there is nothing to write. */
export function keepCompiled(): void {
  flushCompileCache()
}
