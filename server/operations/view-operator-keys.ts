// The operator's keys, revoked ones too: of each everything but the key.

import type { Page, PageRequest } from '../core/page.ts'
import { listKeys, type OperatorKey } from '../store/operator-keys.ts'
import type { Deps } from './parts/deps.ts'

export type { OperatorKey }

export function viewOperatorKeys(deps: Deps, page: PageRequest): Promise<Page<OperatorKey>> {
  return listKeys(deps.pool, page)
}
