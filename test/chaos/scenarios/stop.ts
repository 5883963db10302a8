// F5: the database stops answering, without closing a connection, and then the process is asked to stop. Before, writes of
// the counters had chained behind each other, and the stop waited for all of them.

import assert from 'node:assert/strict'
import { childrenOf } from './process-family.ts'
import type { Scenario } from './scenario.ts'

/** 20 seconds are promised without a drain; the rest is for a busy machine. */
const STOPPED_MS_MAX = 25_000
const SILENT_BEFORE_MS = 8_000

export const stopBesideSilence: Scenario = {
  name: 'stop-beside-silence',
  claim: 'a process ends within 25 s of SIGTERM although its database has gone silent',
  needs: [],
  async perform(stage) {
    const served = await stage.serve()
    const { receiver } = await stage.register(served)
    for (let n = 0; n < 50; n++) await stage.put(served)
    await receiver.hasSeen(({ accepted }) => accepted.length > 20)
    const pids = [stage.databasePid, ...childrenOf(stage.databasePid)]
    stage.after(() => signalAll(pids, 'SIGCONT'))
    signalAll(pids, 'SIGSTOP')
    stage.note(`PostgreSQL is frozen, ${pids.length} processes of it`)
    await new Promise((resolve) => setTimeout(resolve, SILENT_BEFORE_MS))
    const askedAtMs = performance.now()
    let limit: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      limit = setTimeout(() => resolve('late'), STOPPED_MS_MAX)
    })
    const code = await Promise.race([served.end('SIGTERM'), late])
    clearTimeout(limit)
    const tookMs = Math.round(performance.now() - askedAtMs)
    assert.notEqual(code, 'late', `it had not ended after ${tookMs} ms`)
    stage.note(`it ended with ${code} after ${tookMs} ms`)
    assert.ok(code === 0 || served.printed.includes('"msg":"paybell.cut-off"'), served.printed)
  },
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // A backend that has ended.
    }
  }
}
