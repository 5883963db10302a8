// The first page: whether callbacks arrive. The operator sees the whole service, a client its own.

import { useSession } from '../../api/session.ts'
import { OwnOverview } from './own-overview.tsx'
import { ServiceOverview } from './service-overview.tsx'
import './overview.css'

export default function Overview() {
  return useSession().kind === 'operator' ? <ServiceOverview /> : <OwnOverview />
}
