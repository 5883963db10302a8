// Makes a payment, changes it, attaches a file, and takes it through its states.

import { type FormEvent, useState } from 'react'
import { PURPOSES } from '../../../../sdk/src/internal/words.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { PaymentState } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Field, Select } from '../../ui/forms/field.tsx'
import { toBytesText } from '../../ui/lists/numbers.ts'
import {
  type Draft,
  isAmount,
  MOVES,
  newDraft,
  toDocument,
  wayToPaid,
  writePayment,
} from './draft.ts'

const FILE_BYTES_MAX = 10 * 1_024 * 1_024

export function PaymentForm({
  accountId,
  paymentId,
  state,
  initial,
  onStarted,
  onNew,
}: {
  accountId: string
  /** Null until the first write. */
  paymentId: string | null
  state: PaymentState | null
  initial: Draft | null
  onStarted(paymentId: string): void
  onNew(): void
}) {
  const refresh = useRefresh()
  const [draft, setDraft] = useState<Draft>(() => initial ?? newDraft())
  const [fileError, setFileError] = useState<string | undefined>()
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))

  const write = useAction(
    async (states: readonly PaymentState[]) => {
      const id = paymentId ?? crypto.randomUUID()
      for (const next of states) await writePayment(id, accountId, draft, next)
      return id
    },
    {
      onDone: (id) => {
        onStarted(id)
        refresh('/operator/v1/payments', '/operator/v1/deliveries')
      },
      // Some of the writes may have succeeded.
      onError: () => refresh('/operator/v1/payments', '/operator/v1/deliveries'),
    },
  )
  const isWrong = !isAmount(draft.amount) || !/^[A-Z]{3}$/.test(draft.currency)
  const isBlocked = write.isPending || isWrong
  const attach = async (file: File | undefined) => {
    setFileError(undefined)
    if (file === undefined) set({ document: null })
    else if (file.size > FILE_BYTES_MAX) setFileError('At most 10 MiB.')
    else set({ document: await toDocument(file) })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.mutate([state ?? 'DRAFT'])
  }
  const moves = state === null ? [] : MOVES[state]
  const way = wayToPaid(state)

  return (
    <Panel
      title="Payment"
      aside={paymentId === null ? null : <Button onClick={onNew}>Start another</Button>}
    >
      <form className="form" onSubmit={submit}>
        <div className="filters">
          <Field
            label="External id"
            required
            value={draft.externalId}
            onChange={(event) => set({ externalId: event.target.value })}
          />
          <Field
            label="Amount"
            required
            inputMode="decimal"
            value={draft.amount}
            error={isAmount(draft.amount) ? undefined : 'A number such as 1250.50'}
            onChange={(event) => set({ amount: event.target.value.trim() })}
          />
          <Field
            label="Currency"
            required
            maxLength={3}
            value={draft.currency}
            onChange={(event) => set({ currency: event.target.value.toUpperCase() })}
          />
          <Field
            label="Reference"
            required
            value={draft.reference}
            onChange={(event) => set({ reference: event.target.value })}
          />
          <Select
            label="Purpose"
            value={draft.purposeOfPayment}
            options={PURPOSES}
            onChange={(event) => set({ purposeOfPayment: event.target.value })}
          />
          <Field
            label="Document reference"
            value={draft.documentReference}
            onChange={(event) => set({ documentReference: event.target.value })}
          />
          <Field
            label="Document"
            type="file"
            error={fileError}
            hint={documentText(draft)}
            onChange={(event) => void attach(event.target.files?.[0])}
          />
        </div>
        {write.error ? <Problem problem={write.error} /> : null}
        <div className="row">
          <Button type="submit" look={state === null ? 'primary' : 'plain'} disabled={isBlocked}>
            {state === null ? 'Create it as DRAFT' : 'Save the fields'}
          </Button>
          {moves.map((next) => (
            <Button
              key={next}
              look={next === 'CANCELLED' ? 'danger' : 'plain'}
              disabled={isBlocked}
              onClick={() => write.mutate([next])}
            >
              {next === 'CANCELLED' ? 'Cancel it' : `Make it ${next.replaceAll('_', ' ')}`}
            </Button>
          ))}
          {way.length > 0 ? (
            <Button
              look={state === null ? 'plain' : 'primary'}
              disabled={isBlocked}
              onClick={() => write.mutate(way)}
            >
              Walk it to PAID
            </Button>
          ) : null}
        </div>
      </form>
    </Panel>
  )
}

function documentText({ document }: Draft): string {
  if (document === null) return 'A receipt, up to 10 MiB; callbacks carry it inline.'
  const { name, base64EncodedFile } = document
  const bytes = Math.floor((base64EncodedFile.length * 3) / 4)
  return bytes === 0
    ? `${name} is attached.`
    : `${name}, ${toBytesText(bytes)}, goes with the next write.`
}
