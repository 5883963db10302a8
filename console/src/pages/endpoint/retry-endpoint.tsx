// Retry now: everything that is pending for an endpoint is sent at once, for example because its receiver
// was fixed.

import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { Button } from '../../ui/basics/button.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'

/** `path` is the endpoint's, in the API of the client or the operator. */
export function RetryEndpoint({ path }: { path: string }) {
  const refresh = useRefresh()
  const toast = useToast()
  const readAgain = () => refresh(path, '/operator/v1/deliveries', '/v1/deliveries')
  const retry = useAction<void, { retried: number }>(() => api.post(`${path}/retry`), {
    onDone: ({ retried }) => {
      const many = retried === 1 ? '1 delivery is' : `${toCountText(retried)} deliveries are`
      toast(`${many} sent now, in order.`)
      readAgain()
    },
    onError: (problem) => {
      // It may have been paused a moment ago. Read again, the page offers Resume.
      toast(problem.message, 'bad')
      readAgain()
    },
  })
  return (
    <Button look="primary" disabled={retry.isPending} onClick={() => retry.mutate()}>
      Retry now
    </Button>
  )
}
