// A scenario: one thing that happens on a bad day, measured against the same thing on a good one.

import type { Slice } from '../harness/measure.ts'
import type { System } from '../harness/system.ts'
import type { LatencySeries } from '../report/plots.ts'

export interface ScenarioResult {
  /** Its number among the targets; null for what is only shown. */
  target: number | null
  name: string
  measured: string
  against: string
  ratio: number | null
  wanted: string
  isMet: boolean | null
  detail: string
  latencies: readonly LatencySeries[]
  /** Of one delivery, where deliveries were measured. */
  cost?: { cpuMs: number; walBytes: number }
}

export function costOf({ cpu, walBytesEach }: Slice) {
  return { cpuMs: cpu.service + cpu.store, walBytes: walBytesEach }
}

export interface ScenarioOptions {
  realPeers: readonly System[]
  seconds: number
  warmUpSeconds: number
  endpoints: number
  seed: string
  /** A small copy of the real thing, to try the benchmark itself. */
  isTrial: boolean
}

export interface Scenario {
  name: string
  measure(options: ScenarioOptions): Promise<ScenarioResult[]>
}
