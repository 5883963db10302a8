// Events that an endpoint was never owed: how many there are, and sending them.

import type { EventChoice } from '../../../../sdk/src/types.ts'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { toCountText } from '../../ui/numbers.ts'
import { useToast } from '../../ui/toast.tsx'

export interface Missing {
  since: string
  /** Left out: of all kinds. */
  events?: readonly EventChoice[]
}

/** A week ago: how far back the page looks unless another time is given. */
export function weekAgo(): string {
  return new Date(Date.now() - 7 * 86_400_000).toISOString()
}

export function useCountMissing(path: string, onDone: (count: number, missing: Missing) => void) {
  return useAction(
    (missing: Missing) =>
      api.post<{ wouldQueue: number }>(`${path}/replay-missing?dryRun=true`, missing),
    { onDone: ({ wouldQueue }, missing) => onDone(wouldQueue, missing) },
  )
}

export function useSendMissing(path: string, onDone: () => void) {
  const refresh = useRefresh()
  const toast = useToast()
  return useAction(
    (missing: Missing) => api.post<{ queued: number }>(`${path}/replay-missing`, missing),
    {
      onDone: ({ queued }) => {
        refresh('/v1/deliveries', '/v1/webhooks')
        toast(`${toCountText(queued)} on their way.`)
        onDone()
      },
    },
  )
}
