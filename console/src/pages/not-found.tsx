import { Link } from '../ui/basics/link.tsx'
import { Empty } from '../ui/basics/messages.tsx'
import { PageHead } from '../ui/basics/page.tsx'

export function NotFound() {
  return (
    <>
      <PageHead title="Not found" />
      <Empty title="There is nothing at this address">
        The address may be misspelt, or you may not have access to it.{' '}
        <Link to="/">Go to the overview.</Link>
      </Empty>
    </>
  )
}
