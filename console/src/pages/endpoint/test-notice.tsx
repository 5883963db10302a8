// What a receiver made of a test callback.

import type { TestResult } from '../../api/types.ts'
import { Notice } from '../../ui/basics/messages.tsx'
import { toOutcomeHead } from '../../ui/basics/outcome.ts'
import { toMsText } from '../../ui/lists/numbers.ts'

export function TestNotice({ of: { delivered, status, durationMs, error } }: { of: TestResult }) {
  if (delivered) {
    return <Notice tone="good" title={`200 after ${toMsText(durationMs)}: counts as delivered.`} />
  }
  const answer = status === null ? toOutcomeHead(error) : `It answered ${status}`
  return (
    <Notice tone="bad" title={`${answer}, after ${toMsText(durationMs)}`}>
      Only 200 counts as delivered; a real callback would be retried.
    </Notice>
  )
}
