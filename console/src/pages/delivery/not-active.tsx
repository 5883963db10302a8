// A retry that was refused because nothing is sent to its endpoint: says so, and where to resume it.

import type { ApiProblem } from '../../api/client.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'

export function NotActive({
  problem,
  endpointId,
  onClose,
}: {
  problem: ApiProblem
  endpointId: string
  onClose(): void
}) {
  return (
    <Dialog title="Resume the endpoint first" onClose={onClose}>
      <Problem problem={problem} />
      <p>
        <Link to={`/endpoints/${endpointId}`}>Open the endpoint and resume it</Link>: what is
        pending then goes out at once, in order.
      </p>
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
