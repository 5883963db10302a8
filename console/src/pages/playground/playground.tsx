// The sandbox's playground: make a payment, choose how its receiver behaves, and watch the callbacks
// travel. Payment and endpoint are in the address, so a reload goes on with them.

import { useState } from 'react'
import { useFollow } from '../../api/follow.ts'
import { useAction, useCursorList, useRead, useRefresh } from '../../api/hooks.ts'
import { useCan } from '../../api/session.ts'
import type {
  CursorPage,
  Delivery,
  Payment,
  PaymentEvent,
  SandboxReceiver,
} from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { Select } from '../../ui/forms/field.tsx'
import { receiverPath } from '../endpoint/demo-receiver.tsx'
import { entriesOf } from '../payment/payment.tsx'
import { StateLine } from '../payment/state-line.tsx'
import { Clock } from './clock.tsx'
import { toDraft } from './draft.ts'
import { PaymentForm } from './payment-form.tsx'
import { ReceivedTable } from './received.tsx'
import { ReceiverScript } from './receiver-script.tsx'
import { makeStage, type Stage, useStages } from './set-up.ts'
import { Travel } from './travel.tsx'
import './playground.css'

export default function Playground() {
  const { stages, error } = useStages()
  const { query, setFilters } = useFilters()
  const canAct = useCan('admin')
  const stage =
    stages?.find(({ endpointId }) => endpointId === query.get('endpoint')) ?? stages?.[0]
  return (
    <>
      <PageHead title="Playground">
        {stages && stages.length > 1 && stage ? (
          <Select
            label="Endpoint"
            value={stage.endpointId}
            options={stages.map(
              ({ endpointId, receiver }) => [endpointId, `receiver ${receiver}`] as const,
            )}
            onChange={(event) => setFilters({ endpoint: event.target.value, payment: null })}
          />
        ) : null}
      </PageHead>
      {error ? <Notice tone="bad" title={error.message} /> : null}
      {stages === undefined && !error ? <Loading /> : null}
      {stages && !canAct ? (
        <Notice tone="info" title="Read only">
          Making payments needs a key with the role admin.
        </Notice>
      ) : null}
      {stages?.length === 0 && canAct ? <SetUp /> : null}
      {stage && canAct ? <OnStage key={stage.endpointId} stage={stage} /> : null}
    </>
  )
}

function SetUp() {
  const refresh = useRefresh()
  const make = useAction(makeStage, {
    onDone: () => refresh('/operator/v1/endpoints', '/operator/v1/clients'),
  })
  return (
    <Panel title="Set up the playground">
      {make.error ? <Problem problem={make.error} /> : null}
      <Empty title="No endpoint sends to a receiver of this sandbox yet">
        The playground creates a client of its own, “Playground shop”, with one account, and
        registers a webhook to <code>/sandbox/receiver/playground</code>.
      </Empty>
      <div>
        <Button look="primary" disabled={make.isPending} onClick={() => make.mutate(undefined)}>
          Set it up
        </Button>
      </div>
    </Panel>
  )
}

function OnStage({ stage }: { stage: Stage }) {
  const { query, setFilters } = useFilters()
  const paymentId = query.get('payment')
  const payment = useRead<Payment>(`/operator/v1/payments/${paymentId}`, {
    isEnabled: paymentId !== null,
  })
  const deliveries = useRead<CursorPage<Delivery>>(
    `/operator/v1/deliveries?paymentId=${paymentId}&endpointId=${stage.endpointId}&limit=50`,
    { isEnabled: paymentId !== null, everyMs: 2_000 },
  )
  const receiver = useRead<SandboxReceiver>(receiverPath(stage.receiver), { everyMs: 2_000 })
  const isLive = useFollow(
    {
      accepted: ({ accountId }) => accountId === stage.accountId,
      attempt: ({ endpointId }) => endpointId === stage.endpointId,
    },
    '/operator/v1/deliveries',
    '/operator/v1/payments',
    receiverPath(stage.receiver),
  )
  const state = paymentId === null ? null : (payment.data?.status?.state ?? null)
  // What is made here is known here; only a payment of an earlier visit has to be read first.
  const [made, setMade] = useState<string | null>(null)
  const isUnread =
    paymentId !== null && paymentId !== made && payment.data === undefined && !payment.error
  return (
    <div className="playground">
      <div className="stack">
        {payment.error && paymentId !== null ? <Problem problem={payment.error} /> : null}
        {isUnread ? null : (
          <PaymentForm
            // A payment of an earlier visit fills the form; one that is just made does not.
            key={query.get('new') ?? ''}
            accountId={stage.accountId}
            paymentId={payment.error ? null : paymentId}
            state={state}
            initial={payment.data && paymentId !== null ? toDraft(payment.data) : null}
            onStarted={(id) => {
              setMade(id)
              setFilters({ payment: id })
            }}
            onNew={() => setFilters({ payment: null, new: Date.now().toString(36) })}
          />
        )}
        <div className="play-receiver">
          <ReceiverScript name={stage.receiver} view={receiver.data} />
        </div>
        <div className="play-clock">
          <Clock />
        </div>
      </div>
      <div className="stack">
        <div className="play-callbacks">
          <Panel
            title="Callbacks"
            aside={
              isLive ? <Badge tone="good">live</Badge> : <Badge tone="quiet">connecting</Badge>
            }
          >
            {paymentId !== null && state !== null ? (
              <PaymentLine paymentId={paymentId} state={state} />
            ) : null}
            {deliveries.error && paymentId !== null ? <Problem problem={deliveries.error} /> : null}
            <Travel deliveries={paymentId === null ? [] : (deliveries.data?.items ?? [])} />
          </Panel>
        </div>
        <div className="play-received">
          <Panel
            title="What the receiver got"
            isFlush
            aside={
              <span className="muted">
                for <ClientLink id={stage.clientId} name={stage.clientName} />
              </span>
            }
          >
            <ReceivedTable received={receiver.data?.received ?? []} />
          </Panel>
        </div>
      </div>
    </div>
  )
}

function PaymentLine({
  paymentId,
  state,
}: {
  paymentId: string
  state: NonNullable<Payment['status']>['state']
}) {
  const { items } = useCursorList<PaymentEvent>(`/operator/v1/payments/${paymentId}/events`)
  const inSequence = items
    .map(({ payment, ...event }) => ({ ...event, state: payment.status?.state ?? 'DRAFT' }))
    .toSorted((a, b) => a.sequence - b.sequence)
  return (
    <>
      <StateLine now={state} entries={entriesOf(inSequence)} />
      <div>
        <Link to={`/payments/${paymentId}`}>The payment with all its endpoints</Link>
      </div>
    </>
  )
}
