// The operator's keys, revoked ones too: everything but the key itself.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { listKeys, type OperatorKey } from '../../store/secrets/operator-keys.ts'
import type { Deps } from '../shared/deps.ts'

export type { OperatorKey }

export function viewOperatorKeys(deps: Deps, page: PageRequest): Promise<Page<OperatorKey>> {
  return listKeys(deps.pool, page)
}
