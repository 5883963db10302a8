// What a bulk job is called, by its kind.

import type { Job } from '../../api/types.ts'

export const JOB_NAMES: Readonly<Record<Job['kind'], string>> = {
  replay: 'Bulk replay',
  recover: 'Recovery',
  cancel: 'Bulk cancel',
  retry: 'Bulk retry',
  'replay-missing': 'Missing events',
}
