// What the parent of several serving processes and its children say to each other, over the channel that Node keeps open
// between them. A channel that ends is the end of the other side.

/**
 * `stop` is as SIGTERM, `hurry` as a second one; `replaced`: stop, and never say that you are not ready, because another
 * process has your place; `ping`: say that your event loop turns.
 */
export type ToChild = 'stop' | 'hurry' | 'replaced' | 'ping'

export type ToParent = 'ready' | 'pong'

/** The variables that the parent gives a child along: its number, and whether the database was prepared just now. */
export const NUMBER_VARIABLE = 'PAYBELL_PROCESS_NUMBER'
export const PREPARED_VARIABLE = 'PAYBELL_DATABASE_PREPARED'
