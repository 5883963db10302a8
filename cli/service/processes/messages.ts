// What the parent of several serving processes and its children say to each other, over the channel that Node keeps open
// between them. A channel that ends is the end of the other side.

import type { Figures } from '../../../server/telemetry/joined-figures.ts'

/**
 * `stop` is as SIGTERM, `hurry` as a second one; `replaced`: stop, and never say that you are not ready, because another
 * process has your place; `ping`: say that your event loop turns; `figures`: give me your metrics. `metrics` are those of all,
 * for whoever has asked for them. With `sibling` comes the socket to another child.
 */
export type ToChild =
  | { say: 'stop' | 'hurry' | 'replaced' | 'ping' | 'figures' | 'sibling' }
  | { say: 'metrics'; text: string }

/** `metrics`: give me those of all; `last`: my figures, and I end now. */
export type ToParent =
  | { say: 'ready' | 'pong' | 'metrics' }
  | { say: 'figures' | 'last'; figures: Figures }

/** The variables that the parent gives a child along: its number, and whether the database was prepared just now. */
export const NUMBER_VARIABLE = 'PAYBELL_PROCESS_NUMBER'
export const PREPARED_VARIABLE = 'PAYBELL_DATABASE_PREPARED'
