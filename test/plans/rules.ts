// What no plan of the hot path may do, in any state of the statistics, whatever its snapshot says. A statement
// of the hot path gets some keys and looks each of them up: what it costs depends on how many were given, never
// on how much is owed, kept or registered.

import { nodesOf, type PlanNode } from './plan.ts'

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
  // All endpoints of one client are few.
  endpoints_pkey: ['client_key'],
  event_traces_pkey: ['client_key', 'event_id'],
  events_pkey: ['client_key', 'id'],
  final_deliveries_newest: ['id'],
  final_deliveries_of_endpoint: ['client_key', 'endpoint_id'],
  final_deliveries_pkey: ['client_key', 'id'],
  one_endpoint_per_address: ['client_key', 'scope'],
  payments_pkey: ['id'],
  pending_deliveries_pkey: ['client_key', 'id'],
}

/** The faults of a plan, in words, each once; none for a good one. */
export function findFaults(plan: PlanNode): readonly string[] {
  const all = [...nodesOf(plan)].flatMap(({ node }) => [
    ...findScanFaults(node),
    ...findJoinFaults(node),
  ])
  return [...new Set(all)]
}

function isBig({ relation }: PlanNode): boolean {
  return relation !== null && BIG.has(relation.replace(/_<day>$/, ''))
}

function findScanFaults(node: PlanNode): readonly string[] {
  if (!isBig(node) || node.operation !== null) return []
  // By the position of a row, or through a bitmap, whose index has a node of its own.
  if (node.type === 'Tid Scan' || node.type === 'Bitmap Heap Scan') return []
  if (node.index === null) return [`reads all of ${node.relation} (${node.type})`]
  const needed = LEADS_BY[node.index]
  if (needed === undefined) return [`takes ${node.index}, which leads the hot path nowhere`]
  const missing = needed.filter((column) => !node.indexColumns.includes(column))
  return missing.length === 0 ? [] : [`takes ${node.index} without ${missing.join(', ')}`]
}

function findJoinFaults(node: PlanNode): readonly string[] {
  if (node.type !== 'Hash Join' && node.type !== 'Merge Join') return []
  const below = [...nodesOf(node)].map((found) => found.node)
  const big = below.find((found) => isBig(found) && found.operation === null)
  return big === undefined ? [] : [`has a ${node.type} with ${big.relation}`]
}
