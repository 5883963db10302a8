// How many processes serve here: as the settings say, or one for each core that this one may use.

import { availableParallelism } from 'node:os'
import { type Config, PROCESSES_MAX } from '../../server/config/config.ts'

export function countProcesses({ processes }: Pick<Config, 'processes'>): number {
  return processes === 'auto' ? Math.min(availableParallelism(), PROCESSES_MAX) : (processes ?? 1)
}
