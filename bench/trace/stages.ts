// From stamps to stages: which transaction carried a PUT, how long it spent in each stage, and what went on beside it.
// All times are on the monotonic clock that the processes of a machine share.

export interface Request {
  path: string
  startMs: number
  /** When the answer was written; 0 before. */
  endMs: number
}

/** A statement, named as it is prepared, or by its text. */
export interface Span {
  name: string
  connection: number
  startMs: number
  endMs: number
}

export interface Pause {
  name: string
  startMs: number
  endMs: number
}

/** What the service has noted (bench/trace/stamps.ts). */
export interface Noted {
  requests: Request[]
  statements: Span[]
  /** Of the garbage collector. */
  pauses: Pause[]
}

/** What the caller knows of a PUT. */
export interface Put {
  path: string
  sentMs: number
  answeredMs: number
  arrivedMs: number
}

/** In the order in which a PUT passes them. */
export const STAGES = [
  'to the service',
  'hooks, gathering, connection',
  'begin, locks, reads: sent',
  'locked and read',
  'decided',
  'save, audit, commit: sent',
  'committed',
  'answer written',
  'to the caller',
] as const

export interface Traced {
  sentMs: number
  totalMs: number
  /** To the receiver of the callback, since it was sent. */
  arrivedMs: number
  /** One for each of STAGES. */
  stagesMs: readonly number[]
  beside: ReadonlySet<string>
}

interface Transaction {
  beginMs: number
  readsMs: number
  readMs: number
  saveMs: number
  commitMs: number
  committedMs: number
}

/** PUTs whose way is known; a change that had nothing to save has none. */
export function traceOf(puts: readonly Put[], noted: Noted): Traced[] {
  const requests = new Map(noted.requests.map((request) => [request.path, request]))
  const transactions = acceptsIn(noted.statements)
  return puts.flatMap((put) => {
    const request = requests.get(put.path)
    if (!request || request.endMs === 0) return []
    // Its answer is written right after its own commit, and long before the next one is back.
    const own = transactions.findLast(({ committedMs }) => committedMs <= request.endMs)
    if (!own || own.beginMs < request.startMs) return []
    const moments = [
      put.sentMs,
      request.startMs,
      own.beginMs,
      own.readsMs,
      own.readMs,
      own.saveMs,
      own.commitMs,
      own.committedMs,
      request.endMs,
      put.answeredMs,
    ]
    return [
      {
        sentMs: put.sentMs,
        totalMs: put.answeredMs - put.sentMs,
        arrivedMs: put.arrivedMs - put.sentMs,
        stagesMs: moments.slice(1).map((moment, index) => moment - (moments[index] as number)),
        beside: besides(put, noted, transactions),
      },
    ]
  })
}

/** Transactions that accept changes, in the order of their commits. */
function acceptsIn(statements: readonly Span[]): Transaction[] {
  const transactions: Transaction[] = []
  for (const spans of Map.groupBy(statements, ({ connection }) => connection).values()) {
    let begun = 0
    for (const [index, span] of spans.entries()) {
      if (span.name === 'begin') begun = index
      if (span.name !== 'commit') continue
      const own = spans.slice(begun, index)
      const reads = own.find(({ name }) => name === 'read-listening')
      const save = own.find(({ name }) => name.startsWith('save-'))
      if (!reads || !save) continue
      transactions.push({
        beginMs: (own[0] as Span).startMs,
        readsMs: reads.startMs,
        readMs: reads.endMs,
        saveMs: save.startMs,
        commitMs: span.startMs,
        committedMs: span.endMs,
      })
    }
  }
  return transactions.sort((one, other) => one.committedMs - other.committedMs)
}

/** What overlaps with the PUT besides its own statements. */
function besides(put: Put, noted: Noted, transactions: readonly Transaction[]): Set<string> {
  const meets = ({ startMs, endMs }: { startMs: number; endMs: number }) =>
    startMs < put.answeredMs && endMs > put.sentMs
  const beside = new Set<string>()
  for (const pause of noted.pauses) if (meets(pause)) beside.add(pause.name)
  const accepts = transactions.filter(({ beginMs, committedMs }) =>
    meets({ startMs: beginMs, endMs: committedMs }),
  )
  if (accepts.length > 1) beside.add('another transaction of PUTs')
  for (const span of noted.statements) {
    if (!meets(span)) continue
    if (span.name.startsWith('set search_path')) beside.add('a connection is opened')
    else if (!OWN.test(span.name)) beside.add(span.name.replace(/\s+/g, ' ').slice(0, 40))
  }
  return beside
}

const OWN =
  /^(begin|commit|try-lock-payments|read-locked-payments|read-listening|save-new.*|insert-audit)$/
