// How a client tries its own receiver: one signed specimen, or the whole check.

import { api } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import type { CheckReport, TestResult } from '../../api/types.ts'
import { Badge, type Tone } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Notice, Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toMsText } from '../../ui/lists/numbers.ts'
import { TestNotice } from './test-notice.tsx'

const TONES: Readonly<Record<CheckReport['steps'][number]['result'], Tone>> = {
  pass: 'good',
  fail: 'bad',
  warning: 'warn',
}

/** A listener's receiver is on the developer's own machine, and is checked there. */
export function TryOut({ path, canCheck }: { path: string; canCheck: boolean }) {
  const test = useAction(() => api.post<TestResult>(`${path}/test`))
  const check = useAction(() => api.post<CheckReport>(`${path}/check`))
  return (
    <Panel title="Try it out">
      <div className="row">
        <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
          {test.isPending ? 'Sending…' : 'Send a test'}
        </Button>
        {canCheck ? (
          <Button disabled={check.isPending} onClick={() => check.mutate(undefined)}>
            {check.isPending ? 'Checking, up to a minute…' : 'Run the receiver check'}
          </Button>
        ) : null}
        <span className="muted">
          A test is one signed test callback
          {canCheck
            ? '. The check sends a dozen, valid and invalid ones, and stops when a valid one is not answered with 200.'
            : '.'}
        </span>
      </div>
      {test.error ? <Problem problem={test.error} /> : null}
      {test.data ? <TestNotice of={test.data} /> : null}
      {check.error ? <Problem problem={check.error} /> : null}
      {check.data ? <Report of={check.data} /> : null}
    </Panel>
  )
}

function Report({ of: { passed, counts, steps, durationMs } }: { of: CheckReport }) {
  return (
    <div>
      <Notice
        tone={passed ? 'good' : 'bad'}
        title={passed ? 'All checks passed' : `${counts.fail} of ${steps.length} checks failed`}
      >
        {counts.pass} passed, {counts.fail} failed, {counts.warning} with a warning, in{' '}
        {toMsText(durationMs)}.
      </Notice>
      <ul aria-label="Steps of the check">
        {steps.map(({ code, title, result, reason, mend }) => (
          <li key={code} className="check-step">
            <div>
              <Badge tone={TONES[result]}>{result}</Badge>
            </div>
            <strong>{title}</strong>
            <span className="muted break">{reason}</span>
            {mend ? <span className="break">{mend}</span> : null}
          </li>
        ))}
      </ul>
    </div>
  )
}
