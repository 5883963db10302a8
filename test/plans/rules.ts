// What no plan of the hot path may do, in any state of the statistics, besides what reads.ts asks of all. A statement
// of the hot path gets some keys and looks each of them up: what it costs depends on how many were given, never
// on how much is owed, kept or registered.

import { nodesOf, type PlanNode } from './plan.ts'
import type { Explained, StatePlan } from './states.ts'

/** Tables that grow with the use of the service. */
const BIG = new Set([
  'accounts',
  'clients',
  'documents',
  'earlier_attempts',
  'endpoint_health',
  'endpoint_hours',
  'endpoints',
  'event_traces',
  'events',
  'final_deliveries',
  'payments',
  'pending_deliveries',
])

/** An index leads to few rows only where the condition names these of its columns. */
const LEADS_BY: Readonly<Record<string, readonly string[]>> = {
  accounts_by_id: ['id'],
  deliveries_due: ['shard', 'next_attempt_at'],
  deliveries_of_strand: ['endpoint_id', 'payment_id'],
  deliveries_parked: ['shard'],
  documents_pkey: ['client_key', 'hash'],
  endpoint_health_pkey: ['client_key', 'endpoint_id'],
  endpoints_by_change: ['changed_at'],
  endpoints_by_changed_deliveries: ['deliveries_changed_at'],
  endpoints_by_id: ['id'],
  endpoints_failing: ['failing_since'],
  endpoints_pkey: ['client_key'],
  event_traces_pkey: ['client_key', 'event_id'],
  events_pkey: ['client_key', 'id'],
  final_deliveries_newest: ['id'],
  final_deliveries_of_endpoint: ['client_key', 'endpoint_id'],
  final_deliveries_pkey: ['client_key', 'id'],
  // All endpoints of one client are few.
  one_endpoint_per_address: ['client_key'],
  payments_pkey: ['id'],
  pending_deliveries_pkey: ['client_key', 'id'],
}

/**
 * A plan that was made while tables were empty is kept until they are analyzed. PostgreSQL does that after some
 * 50 rows; with what is owed it waits for 10,000 (migrations/0001), because all of it comes and goes.
 */
const ANALYZED_LATE = new Set(['pending_deliveries'])

/** The faults of a plan of the hot path, in words, each once; none for a good one. */
function findFaults({ state, plan }: StatePlan): readonly string[] {
  const tables = state === 'empty, analyzed' ? ANALYZED_LATE : BIG
  const all = [...nodesOf(plan)].flatMap((node) => [
    ...findScanFaults(node, tables),
    ...findJoinFaults(node, tables),
  ])
  return [...new Set(all)]
}

function isScanOf({ relation, operation }: PlanNode, tables: ReadonlySet<string>): boolean {
  return operation === null && relation !== null && tables.has(relation.replace(/_<day>$/, ''))
}

function findScanFaults(node: PlanNode, tables: ReadonlySet<string>): readonly string[] {
  if (!isScanOf(node, tables)) return []
  // By the position of a row, or through a bitmap, whose index has a node of its own.
  if (['Tid Scan', 'Bitmap Heap Scan', 'BitmapAnd', 'BitmapOr'].includes(node.type)) return []
  if (node.index === null) return [`reads all of ${node.relation} (${node.type})`]
  const needed = LEADS_BY[node.index]
  if (needed === undefined) return [`takes ${node.index}, which leads the hot path nowhere`]
  const missing = needed.filter((column) => !node.indexColumns.includes(column))
  return missing.length === 0 ? [] : [`takes ${node.index} without ${missing.join(', ')}`]
}

/** A join that reads both sides whole. */
function findJoinFaults(node: PlanNode, tables: ReadonlySet<string>): readonly string[] {
  if (node.type !== 'Hash Join' && node.type !== 'Merge Join') return []
  const scan = [...nodesOf(node)].find((found) => isScanOf(found, tables))
  return scan === undefined ? [] : [`has a ${node.type} of ${scan.relation}`]
}

/** The faults of a statement of the hot path, each with the state that it shows in. */
export function listFaults({ plans }: Explained): readonly string[] {
  return plans.flatMap((plan) =>
    findFaults(plan).map((fault) => `${plan.state}, for ${plan.values} values: ${fault}`),
  )
}
