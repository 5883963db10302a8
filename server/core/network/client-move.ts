// The move of a client from one cell to another. Pure. Each step ends in one transaction, which also notes the state
// that follows; so a move that was broken off anywhere goes on, or is undone, by looking at the state and at the other cell.
//   (none) ─▶ DRAINING   nothing is sent any more; payments are accepted, and wait
//          ─▶ CLOSING    every process gets to know that nothing is accepted any more
//          ─▶ COPYING    the fence stands; all rows are copied, in one transaction of the other cell
//          ─▶ MOVED      the other cell sends on; callers are sent there
//          ─▶ REMOVED    nothing of it is left here but what callers are sent on by
//   An undo leads from each of the first three back to (none), unless the other cell has the client.

export const MOVE_STATES = ['DRAINING', 'CLOSING', 'COPYING', 'MOVED', 'REMOVED'] as const

export type MoveState = (typeof MOVE_STATES)[number]

export type MoveStep = 'begin' | 'drain' | 'fence' | 'copy' | 'hand over' | 'remove' | 'done'

/** What comes next; null where the other cell has a client that this move has not brought there. */
export function nextStep(state: MoveState | null, isThere: boolean): MoveStep | null {
  if (state === 'REMOVED') return 'done'
  if (state === 'MOVED') return 'remove'
  if (state === 'COPYING') return isThere ? 'hand over' : 'copy'
  if (isThere) return null
  if (state === 'CLOSING') return 'fence'
  return state === 'DRAINING' ? 'drain' : 'begin'
}

/** Whether the client can go on where it was. */
export function canUndo(state: MoveState, isThere: boolean): boolean {
  return !hasLeft(state) && !(state === 'COPYING' && isThere)
}

/** Callers are sent to the other cell. */
export function hasLeft(state: MoveState): boolean {
  return state === 'MOVED' || state === 'REMOVED'
}

/** Nothing is accepted, here or there. */
export function isFrozen(state: MoveState): boolean {
  return state === 'CLOSING' || state === 'COPYING'
}
