// The first page: whether callbacks arrive. The operator sees the whole service, a client its own.

import { useShowsAll } from '../../api/cells.ts'
import { useSession } from '../../api/session.ts'
import { CellsOverview } from '../../cells/cells-overview.tsx'
import { Loading } from '../../ui/basics/messages.tsx'
import { PageHead } from '../../ui/basics/page.tsx'
import { OwnOverview } from './own-overview.tsx'
import { SERVICE_SHAPE, ServiceOverview } from './service-overview.tsx'
import './overview.css'

export default function Overview() {
  const { kind } = useSession()
  const showsAll = useShowsAll()
  if (kind !== 'operator') return <OwnOverview />
  if (showsAll === null) {
    return (
      <>
        <PageHead title="Overview" />
        <Loading panels={SERVICE_SHAPE} />
      </>
    )
  }
  return showsAll ? <CellsOverview /> : <ServiceOverview />
}
