// How far a database is with binding what is sealed for endpoints to the addresses it is sent to. The word stands in the
// database, where its owner can change it; so it is authenticated with the master key, and judged by what else is there.
//   none ─▶ begun   everything is written bound; what is not yet, is opened as before
//        ─▶ done    nothing is left that is not bound, and nothing unbound is opened any more
// Nothing leads back.

export type Binding = 'none' | 'begun' | 'done'

const ORDER: readonly Binding[] = ['none', 'begun', 'done']

export interface JudgedMark {
  /** What holds, whatever the word says. */
  binding: Binding
  /** Someone without the master key has changed the word. */
  isWrong: boolean
}

export function judgeMark(
  stored: { binding: Binding; isAuthentic: boolean },
  /** Something bound is there, or was: then the word is not 'none', and was authenticated before. */
  hasBound: boolean,
): JudgedMark {
  const { binding, isAuthentic } = stored
  if (binding !== 'none' && isAuthentic) return { binding, isWrong: false }
  // The strictest: what does not open can be given again, what was sent to a thief cannot be taken back.
  if (hasBound) return { binding: 'done', isWrong: true }
  // A new database begins so, and the first process authenticates it.
  if (binding === 'begun') return { binding, isWrong: false }
  return { binding: 'none', isWrong: binding === 'done' }
}

/** The one that is further. */
export function furtherOf(one: Binding, other: Binding): Binding {
  return ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other
}

/** Whether what one cell has sealed can be opened in another that is this far, and goes on like what is there. */
export function canMove(from: Binding, to: Binding): boolean {
  return from === to || (from === 'done' && to === 'begun')
}
