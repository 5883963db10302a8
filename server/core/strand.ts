// A strand: one payment's updates at one endpoint (decisions, Callbacks: order). One is in flight at
// a time, in sequence. A failing update holds the later ones back for as long as patience lasts; then
// the next goes ahead, and when it is accepted the older one is superseded.

/** What the order must know of an update that is still owed. */
export interface OwedUpdate {
  sequence: number
  nextAttemptAtMs: number
  firstFailedAtMs: number | null
}

export type Turn<T> = { kind: 'send'; update: T } | { kind: 'wait'; untilMs: number }

/**
 * Whose turn it is among the updates owed, given in sequence, at least one.
 *
 * Among those that may go and are due, the newest goes first. That matters after a crash: when an
 * update went ahead of a failing one and its 200 was never recorded, it is still due, so it is
 * repeated before the older one could reach the receiver behind it.
 */
export function nextTurn<T extends OwedUpdate>(
  owed: readonly T[],
  patienceMs: number,
  nowMs: number,
): Turn<T> {
  let turn: T | undefined
  let untilMs = Number.POSITIVE_INFINITY
  for (let index = 0; index < owed.length; index++) {
    const update = owed[index] as T
    if (update.nextAttemptAtMs <= nowMs) turn = update
    else untilMs = Math.min(untilMs, update.nextAttemptAtMs)
    if (index === owed.length - 1 || update.firstFailedAtMs === null) break
    const givesWayAtMs = update.firstFailedAtMs + patienceMs
    if (givesWayAtMs > nowMs) {
      untilMs = Math.min(untilMs, givesWayAtMs)
      break
    }
  }
  return turn === undefined ? { kind: 'wait', untilMs } : { kind: 'send', update: turn }
}
