// Retry now: a pending delivery is sent at once instead of at its next attempt, for example because its
// receiver was fixed.

import { type ApiProblem, api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { DeliveryDetail } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { NotActive } from './not-active.tsx'

export function RetryDelivery({ delivery, path }: { delivery: DeliveryDetail; path: string }) {
  const refresh = useRefresh()
  const toast = useToast()
  const readAgain = () => refresh(path, path.replace(/\/[^/]+$/, ''))
  const retry = useAction<void, unknown>(() => api.post(`${path}/retry`), {
    onDone: () => {
      toast('Retried: the next attempt starts now. Older updates of the payment go first.')
      readAgain()
    },
    onError: (problem) => {
      if (isNotActive(problem)) return
      // It may have ended a moment ago. Read again, the page offers Replay.
      toast(problem.message, 'bad')
      readAgain()
    },
  })
  return (
    <>
      <Button look="primary" disabled={retry.isPending} onClick={() => retry.mutate()}>
        Retry now
      </Button>
      {retry.error && isNotActive(retry.error) ? (
        <NotActive
          problem={retry.error}
          endpointId={delivery.endpointId}
          onClose={() => retry.reset()}
        />
      ) : null}
    </>
  )
}

function isNotActive({ code }: ApiProblem): boolean {
  return code === 'endpoint-not-active'
}
