// One signed test callback, and what the receiver made of it.

import { api } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import type { Endpoint, TestResult } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { ownEndpointPath } from '../endpoint/doors.ts'
import { TestNotice } from '../endpoint/test-notice.tsx'

export function SendTest({ endpoint: { kind, id } }: { endpoint: Endpoint }) {
  const test = useAction(() => api.post<TestResult>(`${ownEndpointPath(kind, id)}/test`))
  return (
    <>
      <div>
        <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
          {test.isPending ? 'Sending…' : 'Send a test'}
        </Button>
      </div>
      {test.error ? <Problem problem={test.error} /> : null}
      {test.data ? <TestNotice of={test.data} /> : null}
    </>
  )
}
