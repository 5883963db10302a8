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

/** The only version that has lived since then, as far as anyone has looked. */
export interface LoneVersion {
  version: string
  since: Date
  seenAt: Date
}

const HOUR_MS = 3_600_000
/** Then no one goes back to the version before any more. */
const LONE_MS = 24 * HOUR_MS
/** Upkeep looks once an hour. In a longer gap the version before may have lived. */
const LOOKS_GAP_MS = 3 * HOUR_MS

/** After a look by a process of this version that saw no other. */
export function noteLone(stored: LoneVersion | null, version: string, now: Date): LoneVersion {
  const isSame =
    stored?.version === version && now.getTime() - stored.seenAt.getTime() <= LOOKS_GAP_MS
  return { version, since: isSame ? stored.since : now, seenAt: now }
}

export function isLongAlone({ since }: LoneVersion, now: Date): boolean {
  return now.getTime() - since.getTime() >= LONE_MS
}
