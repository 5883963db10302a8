// Keeps the embedded database up: when it dies it is started again under the same url, at once and then
// with growing pauses, until stop(). Until it is back, connections fail and the service answers 503.
import { setTimeout as delay } from 'node:timers/promises'
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './database.ts'

export interface SuperviseOptions extends Omit<EmbeddedOptions, 'onExit'> {
  onDown?: (() => void) | undefined
  onUp?: (() => void) | undefined
}

const PAUSE_MS_MAX = 10_000
/** A server that lived this long did not die of its start: the pauses begin again at 0. */
const SETTLED_MS = 10_000

/** The pause before the n-th start in a row, counted from 1: 0, 0.5, 1, 2, 4, 8, 10, 10, … s. */
export function pauseBeforeMs(attempt: number): number {
  return attempt <= 1 ? 0 : Math.min(250 * 2 ** Math.min(attempt - 1, 20), PAUSE_MS_MAX)
}

export async function superviseEmbedded(options: SuperviseOptions): Promise<EmbeddedDatabase> {
  let attempt = 0
  let upSinceMs = performance.now()

  async function bringBack(): Promise<void> {
    const database = await started
    options.onDown?.()
    if (performance.now() - upSinceMs > SETTLED_MS) attempt = 0
    while (!database.stopping.aborted) {
      attempt++
      const pauseMs = pauseBeforeMs(attempt)
      await delay(pauseMs, undefined, { signal: database.stopping }).catch(() => {})
      try {
        await database.restart()
        upSinceMs = performance.now()
        options.log({ msg: 'embedded.restarted', pid: database.pid, attempt })
        options.onUp?.()
        return
      } catch (error) {
        if (database.stopping.aborted) return
        options.log({ msg: 'embedded.restart-failed', attempt, error: `${error}` })
      }
    }
  }

  const started = startEmbedded({ ...options, onExit: () => void bringBack() })
  return started
}
