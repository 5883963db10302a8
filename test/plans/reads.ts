// What no statement may do, hot or not: have a plan that reads all of a table that grows, or read more of one than a
// batch when it runs, unless it stands in the list below with its reason. A plan is held to this where its statistics
// are about rows that exist; what the hot path does besides is in rules.ts.

import type { PlanNode } from './plan.ts'
import { type Explained, functionOf, STATES_OF_ALL, type State } from './states.ts'

/** Tables that grow with the traffic. */
const BY_TRAFFIC = new Set([
  'audit',
  'documents',
  'earlier_attempts',
  'event_traces',
  'events',
  'final_deliveries',
  'job_deliveries',
  'job_items',
  'payments',
  'pending_deliveries',
])

/** Tables that grow with the number of clients: a few hundred rows, where the planner may well read all. Only where
 *  it is told not to does reading all of one mean that no index leads to what is wanted. */
const BY_CLIENTS = new Set([
  'accounts',
  'client_endpoint_notices',
  'client_secrets',
  'clients',
  'console_sessions',
  'endpoint_health',
  'endpoint_hours',
  'endpoint_notices',
  'endpoints',
  'listener_offers',
  'listeners',
])

/** Who is meant to read much, by the function that sends the statement, or by its name. */
const MEANT: readonly { because: string; reads: Readonly<Record<string, string>> }[] = [
  {
    because:
      'the client is not known: an index leads into the rows of each, or skips from one to the next',
    reads: {
      'one-delivery.findPending': 'clients pending_deliveries',
      'delivery-lists.readPart with an id': 'pending_deliveries',
      'payment-lists.readPaymentSlice': 'clients',
      'payment-retention.readClientKeys': 'clients',
      'retention.isStillOwed': 'clients',
    },
  },
  {
    because: 'the operator asks for all that are registered, or for how many there are',
    reads: {
      'clients.listClients': 'clients',
      'endpoint-pages.readPage by words': 'endpoints',
      'endpoint-pages.readPage of a kind': 'endpoints',
      'search-hits.findNamedEndpoints': 'clients endpoints',
      'master-keys.countSecretsByMasterKey': 'client_secrets endpoints',
      'sealing-form.readFormAndBound': 'endpoints',
      'sealing-form.authenticateBeginning': 'endpoints',
      'sealing-form.completeBinding': 'endpoints',
      'reseal.countForeignDigests': 'client_secrets',
      'service-figures.readOwed': 'endpoints pending_deliveries',
      'stats.readOwedPicture': 'pending_deliveries',
      'client-figures.readOwedFigures': 'pending_deliveries',
    },
  },
  {
    because: 'upkeep looks through all of them now and then, beside every attempt and request',
    reads: {
      'console-sessions.deleteSurplus': 'console_sessions',
      'deleted-endpoints.readDeletedOwed': 'endpoints',
      'listeners.dropDeletedListeners': 'listeners',
      'listeners.readForgottenListeners': 'endpoints listeners',
      'notices.beginNotices': 'endpoint_notices',
      'retention.deleteOldHours': 'endpoint_hours',
    },
  },
  {
    because:
      'what it joins is found by an index, and a few hundred endpoints are joined as fast as fifty',
    reads: {
      'endpoint-lists.readTroubled': 'endpoints',
      'notices.forgetDeleted': 'endpoints',
    },
  },
  {
    because: 'what each of the endpoints is owed is counted, up to a limit',
    reads: {
      'endpoint-lists.readHealthOf': 'pending_deliveries',
      'notices.readEndpointsToTell': 'endpoints pending_deliveries',
    },
  },
  {
    because:
      'what an endpoint is owed for some hours is found among what its client is owed for them',
    reads: {
      'statement-counts.countPending': 'pending_deliveries',
      'statement-counts.readReplayed': 'pending_deliveries',
    },
  },
  {
    because: 'what is erased is all of a payment',
    reads: { 'erasures.findEvents': 'events' },
  },
  {
    because: 'a job takes what is owed as it comes, up to a limit',
    reads: { 'delivery-selections.readOwedKeys': 'pending_deliveries' },
  },
  {
    because:
      'payments of a client are kept as long as one of them is owed: all that it is owed is looked at',
    reads: { 'payment-retention.forgetOldPayments': 'pending_deliveries' },
  },
  {
    because:
      'before anything was analyzed, the days on which the deliveries ended are looked through',
    reads: { 'replays.replayDeliveries': 'final_deliveries' },
  },
]

/** Where the planner knows what it will find. */
const EXPECTED: State = 'full, analyzed'

/** What one statement may read of a table: as much as a batch of a thousand, and as much again. */
const READ_MAX = 2_000

/**
 * Indexes in which rows pile up under one key, however few there are in the test's database: they are read under a
 * limit, or as far as a condition on one of these columns.
 */
const PILES: Readonly<Record<string, readonly string[]>> = {
  // All that is owed may be due.
  deliveries_due: [],
  deliveries_parked: ['id'],
  endpoint_hours_pkey: ['hour'],
  events_of_payment: ['sequence'],
  payments_newest: ['accepted_at', 'id'],
}

/** What the planner may expect on the hot path, for each row given. */
const ROWS_MAX_OF_HOT_PATH = 20

/** Nodes that take all of what is below them before they give the first row. */
const TAKING_ALL = new Set(['Sort', 'Aggregate', 'Hash', 'WindowAgg', 'SetOp', 'Bitmap Heap Scan'])

/** What lies below a node, whether a limit keeps it from being read to its end, and whether there is one at all. */
function* boundsOf(
  node: PlanNode,
  isBounded = false,
  isLimited = false,
): Generator<[PlanNode, boolean, boolean]> {
  const isBoundedHere = isBounded && node.role === null
  const isLimitedHere = isLimited && node.role === null
  yield [node, isBoundedHere, isLimitedHere]
  const isLimit = node.type === 'Limit'
  const below = isLimit || (isBoundedHere && !TAKING_ALL.has(node.type))
  for (const child of node.children) yield* boundsOf(child, below, isLimit || isLimitedHere)
}

const tableOf = ({ relation }: PlanNode) => relation?.replace(/_<day>$/, '') ?? ''

function isScan({ operation, relation, isOfEmpty }: PlanNode): boolean {
  return operation === null && relation !== null && !isOfEmpty
}

/** True when no condition leads to fewer rows than the whole. */
function readsAll({ type, isLed }: PlanNode): boolean {
  // By the position of a row, or through a bitmap, whose index has a node of its own.
  return !['Tid Scan', 'Bitmap Heap Scan', 'BitmapAnd', 'BitmapOr'].includes(type) && !isLed
}

function isPile({ index, indexColumns, isOfEmpty }: PlanNode): boolean {
  const bounds = index === null ? undefined : PILES[index]
  return (
    bounds !== undefined && !isOfEmpty && !bounds.some((column) => indexColumns.includes(column))
  )
}

/** Tables of which a plan reads more than it may. */
function findGreed(plan: PlanNode, tables: ReadonlySet<string>, rowsMax: number) {
  const found = new Map<string, string>()
  const isOfTables = (node: PlanNode) => isScan(node) && tables.has(tableOf(node))
  for (const [node, isBounded, isLimited] of boundsOf(plan)) {
    if (isOfTables(node)) {
      // In the order of an index, and no further than to the last row that is wanted.
      const isWalk = node.index !== null && isBounded && node.filterColumns.length === 0
      if (readsAll(node) && !isWalk) found.set(tableOf(node), `reads all of ${tableOf(node)}`)
    }
    if (!isLimited && isPile(node)) {
      found.set(tableOf(node), `reads a whole pile of ${tableOf(node)} (${node.index})`)
    }
    if (node.rows <= rowsMax) continue
    const isSum = ['Sort', 'Append', 'Merge Append'].includes(node.type)
    if (isBounded || !(isSum || isOfTables(node))) continue
    const scan = [...boundsOf(node)].find(([each, isCut]) => isOfTables(each) && !isCut)?.[0]
    if (scan !== undefined) {
      found.set(tableOf(scan), `takes ${node.rows} rows of ${tableOf(scan)} (${node.type})`)
    }
  }
  return found
}

interface ReadFault {
  /** What MEANT would have to name. */
  table: string
  text: string
}

/** What a statement reads too much of, whether it is meant or not. */
function findReadFaults({ plans, isLifted, isHot, read }: Explained): readonly ReadFault[] {
  const much = [...(read ?? [])].filter(([table, rows]) => BY_TRAFFIC.has(table) && rows > READ_MAX)
  const planned = plans.flatMap(({ state, plan }) => {
    if (!STATES_OF_ALL.has(state)) return []
    const isExpected = state === EXPECTED
    const rowsMax = isHot && isExpected ? ROWS_MAX_OF_HOT_PATH : Number.POSITIVE_INFINITY
    const found = [
      ...findGreed(plan, BY_TRAFFIC, rowsMax),
      ...(isLifted || !isExpected ? [] : findGreed(plan, BY_CLIENTS, Number.POSITIVE_INFINITY)),
    ]
    return found.map(([table, text]) => ({ table, text: `${state}: ${text}` }))
  })
  return [
    ...planned,
    ...much.map(([table, rows]) => ({ table, text: `has read ${rows} rows of ${table}` })),
  ]
}

/** Faults that are not meant, and what is meant and does not happen. */
export function listReadFaults(statements: readonly Explained[]) {
  const isMeant = new Map(
    MEANT.flatMap(({ reads }) => Object.entries(reads)).flatMap(([name, tables]) =>
      tables.split(' ').map((table) => [`${name} ${table}`, false]),
    ),
  )
  const faults = statements.flatMap((statement) =>
    findReadFaults(statement)
      .filter(({ table }) => {
        const keys = [functionOf(statement.name), statement.name].map((key) => `${key} ${table}`)
        const meant = keys.find((key) => isMeant.has(key))
        if (meant !== undefined) isMeant.set(meant, true)
        return meant === undefined
      })
      .map((fault) => ({ statement, ...fault })),
  )
  return { faults, unused: [...isMeant].flatMap(([key, isFound]) => (isFound ? [] : key)) }
}
