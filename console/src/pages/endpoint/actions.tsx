// What can be done to an endpoint as a whole: the buttons in the head of its page.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { Endpoint } from '../../api/types.ts'
import { navigate } from '../../router.ts'
import { Button } from '../../ui/basics/button.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { Register } from '../endpoints/register.tsx'
import { RetryEndpoint } from './retry-endpoint.tsx'

/** `path` is the endpoint in the client's API; the operator may pause and resume. */
export function Actions({ endpoint, path }: { endpoint: Endpoint; path: string | null }) {
  const refresh = useRefresh()
  const toast = useToast()
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null)
  const change = useAction(
    (status: 'ACTIVE' | 'PAUSED') =>
      api.patch(path ?? `/operator/v1/endpoints/${endpoint.id}`, { status }),
    {
      onDone: (_, status) => {
        refresh('/operator/v1/endpoints', '/operator/v1/deliveries', '/v1/')
        refresh('/api/v1/payments/subscriptions')
        const missed = endpoint.status === 'DISABLED' ? ' Recover sends again what it missed.' : ''
        toast(status === 'PAUSED' ? 'Paused.' : `Resumed.${missed}`)
      },
      onError: (problem) => toast(problem.message, 'bad'),
    },
  )
  const remove = useAction(() => api.delete(path ?? ''), {
    onDone: () => {
      refresh('/v1/webhooks', '/v1/listeners', '/api/v1/payments/subscriptions')
      toast('Deleted.')
      navigate('/endpoints')
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  const isActive = endpoint.status === 'ACTIVE'
  const isKeyed = endpoint.kind === 'webhook' ? endpoint.accountId : endpoint.kind !== 'listener'
  const canRotate = path !== null && isKeyed
  return (
    <>
      {isActive && endpoint.kind !== 'listener' && (endpoint.health?.pending ?? 0) > 0 ? (
        <RetryEndpoint path={path ?? `/operator/v1/endpoints/${endpoint.id}`} />
      ) : null}
      <Button
        disabled={change.isPending}
        onClick={() => change.mutate(isActive ? 'PAUSED' : 'ACTIVE')}
      >
        {isActive ? 'Pause' : 'Resume'}
      </Button>
      {canRotate ? <Button onClick={() => setAsking('rotate')}>Rotate the key</Button> : null}
      {path === null ? null : (
        <Button look="danger" onClick={() => setAsking('delete')}>
          Delete
        </Button>
      )}
      {asking === 'rotate' ? (
        <Register
          existing={{
            kind: endpoint.kind,
            accountId: endpoint.accountId ?? null,
            endpointUrl: endpoint.endpointUrl,
          }}
          onClose={() => setAsking(null)}
        />
      ) : null}
      {asking === 'delete' ? (
        <Confirm
          title="Delete this endpoint?"
          action="Delete the endpoint"
          isDanger
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>
            Its pending deliveries ({toCountText(endpoint.health?.pending ?? 0)}) are cancelled. The
            history is kept.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
