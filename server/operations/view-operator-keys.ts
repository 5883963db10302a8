// The operator's keys, revoked ones too: everything but the key itself.

import type { Page, PageRequest } from '../core/numbered-pages.ts'
import { listKeys, type OperatorKey } from '../store/operator-keys.ts'
import type { Deps } from './parts/deps.ts'

export type { OperatorKey }

export function viewOperatorKeys(deps: Deps, page: PageRequest): Promise<Page<OperatorKey>> {
  return listKeys(deps.pool, page)
}
