// What statements do for the planner's sake, and for one that plans for several nodes. What is owed comes and
// goes, and statistics say "no rows" while there are thousands, so conditions about it leave one way to use them.
// Whatever can be selected in a lateral select of its own (with a limit, a lock or offset 0) needs none of that:
// the planner does not turn such a select about. test/plans shows what goes wrong without each of these.

/**
 * Equal, and the planner can use it for a look-up by index only. For the target of an update or a delete, which has no select
 * of its own: with `=`, the planner begins with the table where statistics call it empty, and holds every
 * owed row against every given one (2 s for a batch of a thousand). Where it expects hardly
 * a row, as in recordDelivered, it would not; that is no reason to find rows in two ways.
 */
export function byIndexOnly(column: string, given: string): string {
  return `${column} = any(array[${given}])`
}

/**
 * Equal, and the planner can use it only to filter rows that another condition has found. With `=`, the planner takes the
 * key of what is owed, which begins with the client, and reads all that one client is owed.
 */
export function filterOnly(column: string, given: string): string {
  return `${column} + 0 = ${given}`
}

/**
 * An array whose length the planner does not see. If it did, a plan for one row would look cheaper than the one
 * that is kept for any number, and a lone change would be planned again each time, which takes longer than what
 * it does. For the first array of a statement that is prepared.
 */
export function hideLength(parameter: string, type: string): string {
  return `(select ${parameter}::${type})::${type}`
}

/** All that one endpoint is owed. */
export function owedTo(table: string, clientKey: string, endpointId: string): string {
  return `${table}.endpoint_id = ${endpointId} and ${filterOnly(`${table}.client_key`, clientKey)}`
}

/**
 * What one endpoint is owed after a position, for a portion in the order of payment and sequence. As a range: with `=`,
 * the planner expects the few rows that most endpoints are owed, and reads and sorts all of them for each portion.
 */
export function owedAfter(
  table: string,
  [endpointId, paymentId, sequence]: readonly [string, string, string],
): string {
  const columns = ['endpoint_id', 'payment_id', 'sequence'].map((column) => `${table}.${column}`)
  return `(${columns.join(', ')}) > (${endpointId}, ${paymentId}, ${sequence})
    and ${table}.endpoint_id <= ${endpointId}`
}

/**
 * An instant and an interval. A plain sum depends on the zone of the session, so PostgreSQL calls it stable, and a
 * distributed schema takes nothing but immutable functions of a column in an update.
 */
export function later(at: string, interval: string): string {
  return `((${at} at time zone 'UTC') + ${interval}) at time zone 'UTC'`
}

/**
 * Always true, for an insert of what another part of the same statement has found or changed. Where the cell lives on a
 * node of a cluster, this says on which; without it, rows are sent to every node, and one that is dead stops the
 * statement. A count, because it is true without the row as well: what such statements move must not be lost.
 */
export const IN_CELL = '(select count(*) from feed_origin) >= 0'
