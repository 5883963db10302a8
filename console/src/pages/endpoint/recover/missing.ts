// Events that an endpoint was never owed: how many there are, and sending them.

import type { EventChoice } from '../../../../../sdk/src/wire/types.ts'
import { api } from '../../../api/client.ts'

export interface Missing {
  since: string
  until?: string
  /** Left out: of all kinds. */
  events?: readonly EventChoice[]
}

export async function countMissing(path: string, missing: Missing): Promise<number> {
  const url = `${path}/replay-missing?dryRun=true`
  return (await api.post<{ wouldQueue: number }>(url, missing)).wouldQueue
}

export async function sendMissing(path: string, missing: Missing): Promise<number> {
  return (await api.post<{ queued: number }>(`${path}/replay-missing`, missing)).queued
}
