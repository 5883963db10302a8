// The seal of the audit: up to when it is sealed, and when it was last verified. The service checks its own
// database here; a check with keys and a head that were kept elsewhere proves more, and is the command line's.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import { useCan, useSession } from '../../api/session.ts'
import type { AuditHead, VerifiedAudit } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Notice, Problem } from '../../ui/basics/messages.tsx'
import { Facts, Panel } from '../../ui/basics/page.tsx'
import { Time } from '../../ui/times/time.tsx'

const AUDIT = '/operator/v1/audit'
const HEAD = `${AUDIT}/head`
const READ_EVERY_MS = 60_000

export function Seal() {
  const isAuditor = useSession().role === 'auditor'
  // An auditor's reads are audited: the page does not read by itself.
  const head = useRead<AuditHead>(HEAD, { everyMs: isAuditor ? 0 : READ_EVERY_MS })
  const isNone = head.error?.status === 404
  return (
    <Panel title="Seal" aside={useCan('admin') && head.data ? <Verify /> : null}>
      {isNone ? <p className="muted">Nothing is sealed yet. That happens once a minute.</p> : null}
      {head.error && !isNone ? <Problem problem={head.error} /> : null}
      {head.data ? <Shown head={head.data} /> : null}
    </Panel>
  )
}

function Shown({ head }: { head: AuditHead }) {
  const { verification } = head
  return (
    <>
      <Facts
        of={[
          [
            'Newest segment',
            `${head.segment}, with ${head.count} ${head.count === 1 ? 'row' : 'rows'}`,
          ],
          ['Sealed', <Time key="sealed" at={head.sealedAt} />],
          ['Digest', <Id key="digest" value={head.digest} isShort />],
          [
            'Last verified',
            verification ? (
              <span key="verified">
                <Time at={verification.at} />, segments {verification.from} to {verification.to}:{' '}
                {verification.verdict}
              </span>
            ) : (
              'never'
            ),
          ],
        ]}
      />
      {verification?.finding ? (
        <Notice tone="bad" title="The audit is not as it was sealed">
          {verification.finding.detail}
        </Notice>
      ) : null}
    </>
  )
}

function Verify() {
  const refresh = useRefresh()
  const [reached, setReached] = useState<number | null>(null)
  const verify = useAction<void, VerifiedAudit>(() => verifyAll(setReached), {
    onDone: () => refresh(AUDIT),
  })
  return (
    <>
      {verify.isPending && reached !== null ? (
        <span className="muted" role="status">
          Segment {reached}
        </span>
      ) : null}
      {verify.data && !verify.isPending ? (
        <span className="muted" role="status">
          {SAID[verify.data.verdict]}
        </span>
      ) : null}
      {verify.error ? <Problem problem={verify.error} /> : null}
      <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
        Verify
      </Button>
    </>
  )
}

/** Invalid: the finding is shown below, with the head. */
const SAID: Readonly<Record<VerifiedAudit['verdict'], string>> = {
  valid: 'All as it was sealed',
  partial: 'What is there is as it was sealed; retention has dropped the rest',
  invalid: '',
}

/** Portion by portion, until the head or the first finding. Rows that one portion lacks are lacking in all of it. */
async function verifyAll(onReached: (segment: number) => void): Promise<VerifiedAudit> {
  let isPartial = false
  for (let after = 0; ; ) {
    const portion = await api.post<VerifiedAudit>(`${AUDIT}/verify`, { after })
    isPartial ||= portion.verdict === 'partial'
    if (portion.next === null) {
      return isPartial && portion.valid ? { ...portion, verdict: 'partial', valid: false } : portion
    }
    after = portion.next
    onReached(after)
  }
}
