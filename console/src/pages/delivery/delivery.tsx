// One delivery: where it stands and why, every attempt on the curve that it follows, what came back beside what was
// sent, and what can be done about it, on one screen. Its address is its permalink.

import { type ReactNode, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import { useCan, useSession } from '../../api/session.ts'
import type { DeliveryDetail } from '../../api/types.ts'
import { toHref } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { Facts, PageHead, Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { Amount } from '../../ui/lists/amount.tsx'
import { Explanation } from '../../ui/times/explanation.tsx'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time, useNow } from '../../ui/times/time.tsx'
import type { PageProps } from '../page-props.ts'
import { AttemptTable } from './attempt-table.tsx'
import { CopyCurl, CopyLink } from './copies.tsx'
import { ReceiptButton } from './receipt.tsx'
import { RetryDelivery } from './retry-delivery.tsx'
import { SentBody } from './sent-body.tsx'
import { Signature } from './signature.tsx'
import { Timeline } from './timeline.tsx'
import './delivery.css'

/** Status and curve, what came back and what was sent: each pair beside each other. */
const SHAPE = [
  [380, 380],
  [400, 800],
]

export default function DeliveryPage({ params }: PageProps) {
  const id = params.id ?? ''
  const { kind } = useSession()
  const base = kind === 'operator' ? '/operator/v1/deliveries' : '/v1/deliveries'
  const path = `${base}/${encodeURIComponent(id)}`
  const [everyMs, setEveryMs] = useState(3_000)
  const read = useRead<DeliveryDetail>(path, { everyMs })
  const delivery = read.data
  const above = <Link to="/deliveries">Deliveries</Link>

  useEffect(() => setEveryMs(readAgainMs(delivery)), [delivery])

  if (delivery === undefined) {
    return (
      <>
        <PageHead title="Delivery" above={above} />
        {read.error ? <Problem problem={read.error} /> : <Loading panels={SHAPE} />}
      </>
    )
  }
  return (
    <>
      <PageHead title={titleOf(delivery)} above={above}>
        <State of={delivery.state} />
        <Actions delivery={delivery} path={path} />
      </PageHead>
      {read.error ? <Problem problem={read.error} /> : null}
      <div className="beside">
        <Why delivery={delivery} />
        <Panel title="Curve">
          <Timeline delivery={delivery} />
        </Panel>
        <AttemptTable delivery={delivery} />
        <SentBody request={delivery.request} />
        <Signature delivery={delivery} />
      </div>
    </>
  )
}

/** Read often while an attempt is near; rarely after the end, as another user can replay it. */
function readAgainMs(delivery: DeliveryDetail | undefined): number {
  if (delivery === undefined) return 3_000
  if (delivery.state !== 'PENDING') return 15_000
  const dueMs = delivery.nextAttemptAt === null ? Infinity : Date.parse(delivery.nextAttemptAt)
  return dueMs - Date.now() < 5_000 ? 700 : 3_000
}

/** With the name that its client knows the payment by. */
function titleOf({ event, sequence, externalId }: DeliveryDetail): string {
  return `${event} #${sequence}${externalId === null ? '' : ` of ${externalId}`}`
}

function Why({ delivery }: { delivery: DeliveryDetail }) {
  const { paymentId, externalId, amount, paymentState } = delivery
  const { endpointId, endpointUrl, clientId, accountId } = delivery
  const facts: [string, ReactNode][] = [
    [
      'Payment',
      <span key="payment" className="row">
        <Link to={`/payments/${paymentId}`} className="break">
          {externalId ?? paymentId}
        </Link>
        {amount === null ? null : <Amount of={amount} />}
        {paymentState === null ? null : <State of={paymentState} />}
      </span>,
    ],
    [
      'Endpoint',
      <Link key="endpoint" to={`/endpoints/${endpointId}`} className="break">
        {endpointUrl}
      </Link>,
    ],
  ]
  if (clientId !== undefined) {
    facts.push([
      'Client, account',
      <span key="client" className="break">
        <Link to={`/clients/${clientId}`} title={clientId}>
          {delivery.clientName}
        </Link>
        {', '}
        <Link to={`/deliveries?accountId=${accountId}`} title={accountId ?? ''}>
          {delivery.accountName ?? accountId}
        </Link>
      </span>,
    ])
  }
  facts.push(
    ['Created', <Time key="created" at={delivery.createdAt} />],
    ['Next attempt', <When key="next" delivery={delivery} />],
    ['Deadline', <Time key="deadline" at={delivery.deadlineAt} />],
    ['Delivery id', <Id key="id" value={delivery.id} />],
    ['Payment id', <Id key="payment-id" value={paymentId} />],
    ['Event id', <Id key="event" value={delivery.eventId} />],
  )
  return (
    <Panel title="Status">
      <p className="explanation">
        <Explanation parts={delivery.explanationParts} />
      </p>
      <Facts of={facts} />
    </Panel>
  )
}

function When({ delivery }: { delivery: DeliveryDetail }) {
  const nowMs = useNow()
  if (delivery.state !== 'PENDING')
    return <span className="muted">none, the delivery has ended</span>
  if (delivery.waitsFor !== null) return `waits for #${delivery.waitsFor}`
  if (delivery.nextAttemptAt === null) return <span className="muted">waits, see above</span>
  const down = delivery.explanationParts.find(({ code }) => code === 'endpoint-down')
  if (down) {
    const probeAt = down.instants.find(({ name }) => name === 'nextProbeAt')?.at
    return <>waits for the endpoint’s next probe, {probeAt ? <NextTime at={probeAt} /> : 'now'}</>
  }
  if (Date.parse(delivery.nextAttemptAt) <= nowMs) return 'due now'
  return (
    <>
      <Time at={delivery.nextAttemptAt} as="relative" />
      <span className="muted">
        {' '}
        (<Time at={delivery.nextAttemptAt} as="short" />)
      </span>
    </>
  )
}

function Actions({ delivery, path }: { delivery: DeliveryDetail; path: string }) {
  const { kind } = useSession()
  const canAct = useCan('admin')
  const refresh = useRefresh()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const after = (text: string) => () => {
    setAsking(false)
    toast(text)
    refresh(path, path.replace(/\/[^/]+$/, ''))
  }
  const refused = (problem: { message: string }) => {
    setAsking(false)
    toast(problem.message, 'bad')
  }
  const replay = useAction<void, unknown>(() => api.post(`${path}/replay`), {
    onDone: after('Replay requested: same body, same webhook-id.'),
    onError: refused,
  })
  const cancel = useAction<void, unknown>(() => api.post(`${path}/cancel`), {
    onDone: after('Cancelled: there are no further attempts.'),
    onError: refused,
  })
  const isPending = delivery.state === 'PENDING'
  return (
    <>
      {canAct && isPending ? <RetryDelivery delivery={delivery} path={path} /> : null}
      <ReceiptButton delivery={delivery} path={path} />
      <CopyCurl delivery={delivery} />
      <CopyLink href={window.location.origin + toHref(`/deliveries/${delivery.id}`)} />
      {canAct && kind === 'operator' && isPending ? (
        <Button look="danger" onClick={() => setAsking(true)}>
          Cancel delivery…
        </Button>
      ) : null}
      {canAct && !isPending ? (
        <Button look="primary" disabled={replay.isPending} onClick={() => replay.mutate()}>
          Replay
        </Button>
      ) : null}
      {isAsking ? (
        <Confirm
          title="Cancel this delivery"
          action="Cancel the delivery"
          dismiss="Keep it"
          isDanger
          isBusy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            The endpoint gets no further attempt of {delivery.event} #{delivery.sequence}. It can be
            replayed later.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
