// The switch that disables a client and enables it again.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { ClientWithSecrets } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'

export function StatusButton({ client, path }: { client: ClientWithSecrets; path: string }) {
  const refresh = useRefresh()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const change = useAction((status: 'ACTIVE' | 'DISABLED') => api.patch(path, { status }), {
    onDone: (_, status) => {
      setAsking(false)
      refresh('/operator/v1/clients')
      toast(status === 'ACTIVE' ? 'Enabled.' : 'Disabled.')
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  if (client.status === 'DISABLED') {
    return (
      <Button disabled={change.isPending} onClick={() => change.mutate('ACTIVE')}>
        Enable
      </Button>
    )
  }
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Disable
      </Button>
      {isAsking ? (
        <Confirm
          title={`Disable ${client.name}?`}
          action="Disable the client"
          isDanger
          isBusy={change.isPending}
          onConfirm={() => change.mutate('DISABLED')}
          onClose={() => setAsking(false)}
        >
          <p>
            It gets no token, and its tokens stop working within 5 seconds. Its callbacks are still
            delivered: disabling blocks the API, not the deliveries.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
