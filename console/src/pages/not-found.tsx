import { Link } from '../ui/link.tsx'
import { Empty } from '../ui/messages.tsx'
import { PageHead } from '../ui/page.tsx'

export function NotFound() {
  return (
    <>
      <PageHead title="Not found" />
      <Empty title="There is nothing at this address">
        It may be misspelt, or not meant for whoever is signed in.{' '}
        <Link to="/">Go to the overview.</Link>
      </Empty>
    </>
  )
}
