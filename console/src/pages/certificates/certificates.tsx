// The certificates that receivers are shown when they ask who calls: when they end, who is shown them, and, for an
// operator, new ones and how endpoints follow from one to another. A client sees those that its receivers may meet.

import { type ReactNode, useState } from 'react'
import { useCan, useSession } from '../../api/session.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Copy, Id } from '../../ui/basics/copy.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { type Act, CertificateAct, canReplace } from './certificate-act.tsx'
import { clientsText } from './clients-field.tsx'
import { Ends } from './ends.tsx'
import { type Certificate, useCertificates } from './use-certificates.ts'

const COLUMNS: readonly Column<Certificate>[] = [
  {
    head: 'Name',
    cell: ({ name, isDefault, clients }) => (
      <>
        <span className="break">
          {name} {isDefault ? <Badge isPlain>DEFAULT</Badge> : null}
        </span>
        {clients ? <div className="muted">for {clientsText(clients)}</div> : null}
      </>
    ),
  },
  { head: 'Subject', cell: ({ subject }) => <span className="break">{subject}</span> },
  { head: 'Ends', cell: ({ notAfter }) => <Ends at={notAfter} /> },
  { head: 'SHA-256', cell: (one) => <Text of={one} /> },
]

export default function Certificates() {
  const isOperator = useSession().kind === 'operator'
  const canAct = useCan('admin') && isOperator
  const [act, setAct] = useState<Act | null>(null)
  const { data, error, isPending } = useCertificates()
  const all = data?.content ?? []
  const columns = [...COLUMNS]
  if (isOperator) {
    columns.splice(3, 0, { head: 'Used by', isNumber: true, cell: ({ usedBy }) => usedBy })
  }
  if (canAct) {
    columns.push({ head: '', name: 'Actions', cell: (one) => actionsOf(one, all, setAct) })
  }
  return (
    <>
      <PageHead title="Certificates">
        {canAct ? (
          <>
            <Button onClick={() => setAct({ kind: 'import' })}>Import one</Button>
            <Button look="primary" onClick={() => setAct({ kind: 'request' })}>
              Ask for one
            </Button>
          </>
        ) : null}
      </PageHead>
      <Panel title="Client certificates (mTLS)" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading rows={4} /> : null}
        {all.length > 0 ? (
          <Table label="Certificates" columns={columns} rows={all} keyOf={({ id }) => id} />
        ) : null}
        {data?.totalElements === 0 ? (
          <Empty title="No certificates">
            {isOperator
              ? 'Receivers that ask who calls are shown none.'
              : 'You may use none. Ask the operator for one if your receiver asks who calls.'}
          </Empty>
        ) : null}
      </Panel>
      {act ? <CertificateAct act={act} all={all} onClose={() => setAct(null)} /> : null}
    </>
  )
}

/** What tells it from others, and the whole of it to copy. */
function Text({ of }: { of: Certificate }) {
  const { fingerprintSha256: digest, certificatePem, certificateRequestPem: request } = of
  return (
    <>
      {digest ? <Id value={digest} isShort /> : null}
      {certificatePem ? <Copy text={certificatePem} label="Copy chain" isNamed /> : null}
      {request && !certificatePem ? <Copy text={request} label="Copy request" isNamed /> : null}
    </>
  )
}

function actionsOf(
  one: Certificate,
  all: readonly Certificate[],
  setAct: (act: Act) => void,
): ReactNode {
  const isUsed = (one.usedBy ?? 0) > 0
  const isWhole = one.certificatePem !== null
  return (
    <span className="row">
      <Button isSmall onClick={() => setAct({ kind: 'complete', of: one })}>
        {isWhole ? 'Renew' : 'Complete'}
      </Button>
      <Button isSmall onClick={() => setAct({ kind: 'clients', of: one })}>
        Clients
      </Button>
      {isWhole && !one.isDefault ? (
        <Button isSmall onClick={() => setAct({ kind: 'default', of: one })}>
          Make default
        </Button>
      ) : null}
      {isUsed && all.some((other) => canReplace(other, one)) ? (
        <Button isSmall onClick={() => setAct({ kind: 'replace', of: one })}>
          Replace
        </Button>
      ) : null}
      {isUsed ? null : (
        <Button isSmall look="danger" onClick={() => setAct({ kind: 'delete', of: one })}>
          Delete
        </Button>
      )}
    </span>
  )
}
