// What a system under test has to offer so that a cell can measure it, Paybell and peers alike.

import type { BenchDatabase } from './database.ts'
import type { Dialect } from './dialects.ts'

export type Durability = 'fsync before 2xx' | 'fsync each second' | 'none'

export interface RunningSystem {
  baseUrl: string
  operatorKey: string
  accountIds: readonly string[]
  /** How it is fed by single requests; Paybell's way unless told. */
  dialect?: Dialect | undefined
  /** Of all processes that belong to it, database included. */
  cpuSeconds(): { service: number; store: number }
  /** True when everything accepted so far is delivered and recorded. */
  isSettled(): Promise<boolean>
  /** The processes of the service itself. */
  pids: readonly number[]
  database: BenchDatabase | null
  /** Of the payments with the numbers 0, n, 2n … a delivery is owed, and of no others. Left out: 1, so of each. */
  heardEvery?: number | undefined
  stop(): Promise<void>
}

export interface SystemOptions {
  receiverUrl: string
  /** Endpoints, one account each. */
  endpoints: number
}

export interface System {
  name: string
  durability: Durability
  /** Callbacks go over https, as in production. */
  isOverTls?: boolean
  /** What may be under way, when less than usual: a slow system would take for ever to drain. */
  underWayMax?: number
  start(options: SystemOptions): Promise<RunningSystem>
}

/** How many of the payments numbered below this one are owed to an endpoint. */
export function heardBelow(number: number, heardEvery = 1): number {
  return Math.ceil(number / heardEvery)
}

/** The path of the n-th endpoint at the receiver. */
export function endpointPath(number: number): string {
  return `/e/${number}`
}
