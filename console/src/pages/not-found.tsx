import { Link } from '../ui/basics/link.tsx'
import { PageHead, Panel } from '../ui/basics/page.tsx'

export function NotFound() {
  return (
    <>
      <PageHead title="Not found" />
      <Panel title="There is nothing at this address">
        <p>
          It may be misspelt, or you may not have access to it.{' '}
          <Link to="/">Go to the overview.</Link>
        </p>
      </Panel>
    </>
  )
}
