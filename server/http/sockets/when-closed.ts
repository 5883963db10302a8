// What has to end with an answer. A caller may hang up while it is authenticated: the answer has closed by the time its
// handler runs, and says so to no one any more.

import type { ServerResponse } from 'node:http'

/** Calls `run` once the answer is out or its caller has hung up; at once where that is so already. */
export function whenClosed(answer: ServerResponse, run: () => void): void {
  if (answer.destroyed) run()
  else answer.once('close', run)
}
