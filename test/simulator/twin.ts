// The in-memory twin of the database: one method per statement or transaction, each atomic, with the rules
// of server/store. The conformance suite holds it to PostgreSQL. All times are handed in: the database's
// own for what a renewal tells and notes down, and the `now` of the engine for all else.

import { TwinLeases } from './twin-leases.ts'
import { TwinOutcomes } from './twin-outcomes.ts'
import { TwinPayments } from './twin-payments.ts'
import { TwinReads } from './twin-reads.ts'
import { emptyTables, NO_TWIN_EVENTS, type Tables, type TwinEvents } from './twin-tables.ts'

export class Twin {
  readonly tables: Tables
  readonly events: TwinEvents
  readonly leases: TwinLeases
  readonly reads: TwinReads
  readonly outcomes: TwinOutcomes
  readonly payments: TwinPayments

  constructor(shards: readonly number[], events: TwinEvents = NO_TWIN_EVENTS) {
    this.tables = emptyTables(shards)
    this.events = events
    this.leases = new TwinLeases(this)
    this.reads = new TwinReads(this)
    this.outcomes = new TwinOutcomes(this)
    this.payments = new TwinPayments(this)
  }
}
