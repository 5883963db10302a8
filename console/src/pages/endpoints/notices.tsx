// Where a client gets notices about its own endpoints, and the newest of them.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import type { Notice, Notices } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'

const PATH = '/v1/notices'

const TEXTS: Readonly<Record<Notice['type'], string>> = {
  'endpoint.failing': 'Failing',
  'endpoint.will_be_disabled': 'Will be disabled in 24 hours',
  'endpoint.disabled': 'Disabled',
  'endpoint.recovered': 'Recovered',
  'deliveries.exhausted': 'Deliveries given up',
}

type Sent = Notices['recent'][number]

const COLUMNS: readonly Column<Sent>[] = [
  { head: 'When', cell: ({ notice }) => <Time at={notice.at} /> },
  { head: 'What', cell: ({ notice }) => TEXTS[notice.type] },
  {
    head: 'Endpoint',
    cell: ({ notice: { endpoint } }) => (
      <Link to={`/endpoints/${endpoint.id}?kind=${endpoint.kind}`} className="break">
        {endpoint.endpointUrl}
      </Link>
    ),
  },
  { head: 'Why', cell: ({ notice }) => notice.reasons ?? '–' },
  { head: 'Sent', cell: ({ state }) => <State of={state} /> },
]

/** Asked for when it is opened: most clients have none. */
export function NoticesPanel() {
  const [isShown, setShown] = useState(false)
  return (
    <Panel title="Notices about your endpoints">
      {isShown ? (
        <NoticesOf />
      ) : (
        <div className="row">
          <p>Paybell can tell you when an endpoint fails, will be disabled, or has recovered.</p>
          <Button onClick={() => setShown(true)}>Show notices</Button>
        </div>
      )}
    </Panel>
  )
}

function NoticesOf() {
  const [isOpen, setOpen] = useState(false)
  const refresh = useRefresh()
  const { data, error, isPending } = useRead<Notices>(PATH, { everyMs: 30_000 })
  const remove = useAction(() => api.delete(PATH), { onDone: () => refresh(PATH) })
  if (isPending) return <Loading />
  const isUnset = error?.status === 404
  if (error && !isUnset) return <Problem problem={error} />
  const setting = isUnset ? undefined : data
  return (
    <>
      {setting ? (
        <p className="row">
          <span className="break">{setting.callbackUrl}</span> <State of={setting.status} />
        </p>
      ) : (
        <Empty title="No address for notices yet">Set one to get notices.</Empty>
      )}
      {setting && setting.recent.length > 0 ? (
        <Table
          label="Newest notices"
          columns={[...COLUMNS]}
          rows={setting.recent}
          keyOf={({ notice }) => `${notice.endpoint.id}${notice.type}${notice.at}`}
        />
      ) : null}
      <div className="row">
        <Button onClick={() => setOpen(true)}>
          {setting ? 'Change the address' : 'Set the address'}
        </Button>
        {setting ? (
          <Button disabled={remove.isPending} onClick={() => remove.mutate(undefined)}>
            Get no more notices
          </Button>
        ) : null}
      </div>
      {remove.error ? <Problem problem={remove.error} /> : null}
      {isOpen ? <NoticesDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function NoticesDialog({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const save = useAction((body: Record<string, string>) => api.put<Notices>(PATH, body), {
    onDone: () => {
      refresh(PATH)
      onClose()
    },
  })
  const errorOf = (pointer: string) =>
    save.error?.fields.find((field) => field.pointer === pointer)?.detail
  return (
    <FormDialog
      title="Where notices go"
      action="Save"
      sending={save}
      marksFields
      onSubmit={(form) =>
        save.mutate({
          callbackUrl: String(form.get('callbackUrl')).trim(),
          sharedKey: String(form.get('sharedKey')),
        })
      }
      onClose={onClose}
    >
      <Field
        name="callbackUrl"
        label="Address"
        placeholder="https://example.com/notices"
        required
        error={errorOf('/callbackUrl')}
      />
      <Field
        name="sharedKey"
        label="Shared key"
        hint="Signs every notice, as callbacks are signed. It is never shown again."
        autoComplete="off"
        required
        error={errorOf('/sharedKey')}
      />
    </FormDialog>
  )
}
