// A client's new endpoint, or a new key for one that it has: the interface does both in the same way.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { EndpointKind } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Copy } from '../../ui/basics/copy.tsx'
import { Notice } from '../../ui/basics/messages.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Choice, Field, Select } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { newSharedKey } from '../endpoint/doors.ts'
import { SettingsFields } from '../endpoint/settings-fields.tsx'
import { errorsIn, isSettingsField, readSettingsForm } from '../endpoint/settings-form.ts'
import { KINDS } from './kinds.ts'

export interface ExistingEndpoint {
  kind: EndpointKind
  accountId: string | null
  endpointUrl: string
}

export function Register({ existing, onClose }: { existing?: ExistingEndpoint; onClose(): void }) {
  const { accounts = [] } = useSession()
  const refresh = useRefresh()
  const toast = useToast()
  const [kind, setKind] = useState<EndpointKind>(existing?.kind ?? 'webhook')
  const [key, setKey] = useState('')
  const save = useAction(
    ({ accountId, ...body }: { accountId?: string } & Readonly<Record<string, unknown>>) =>
      kind === 'webhook'
        ? api.post('/v1/webhooks/register', body, { accountId: accountId ?? '' })
        : api.post('/api/v1/payments/subscribe', body),
    {
      onDone: () => {
        refresh('/v1/webhooks', '/api/v1/payments/subscriptions')
        toast(existing ? 'The new key signs from now on.' : 'Registered.')
        onClose()
      },
    },
  )
  const submit = (data: FormData) => {
    const form = [...data].filter(([name]) => !isSettingsField(name))
    // A key signs with every byte of it, spaces at its ends included.
    const filled = form.map(([name, value]) => {
      const text = String(value)
      return [name, name === 'sharedKey' ? text : text.trim()] as const
    })
    save.mutate({
      ...Object.fromEntries(filled.filter(([, value]) => value !== '')),
      ...(existing ? {} : readSettingsForm(data, {})),
      ...(existing
        ? { callbackUrl: existing.endpointUrl, accountId: existing.accountId ?? '' }
        : {}),
    })
  }
  const errorOf = errorsIn(save.error)
  return (
    <FormDialog
      title={existing ? 'Rotate the shared key' : 'Register an endpoint'}
      action={existing ? 'Rotate the key' : 'Register'}
      sending={save}
      // A new key is asked for without the settings, with which its header may collide.
      marksFields={existing === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {existing ? (
        <p>
          The new key signs at once. For 24 hours the old one signs beside it, so that your receiver
          may change over without a gap.
        </p>
      ) : (
        <>
          <Choice<EndpointKind>
            label="Kind"
            value={kind}
            options={[
              ['webhook', 'Webhook'],
              ['subscription', 'Subscription'],
            ]}
            onChange={setKind}
          />
          <p className="muted">{KINDS[kind].about}</p>
          {kind === 'webhook' ? (
            <Select
              name="accountId"
              label="Account"
              options={accounts.map(({ id, name }) => [id, name] as const)}
            />
          ) : null}
          <Field
            name="callbackUrl"
            label="Address"
            placeholder="https://example.com/paybell"
            required
            error={errorOf('/callbackUrl')}
          />
        </>
      )}
      <Field
        name="sharedKey"
        label="Shared key"
        hint="Signs every callback. It is not shown again: save it now."
        autoComplete="off"
        required
        value={key}
        onChange={(event) => setKey(event.target.value)}
        error={errorOf('/sharedKey')}
      />
      <div className="row">
        <Button isSmall onClick={() => setKey(newSharedKey())}>
          Generate
        </Button>
        {key === '' ? null : <Copy text={key} label="Copy the shared key" />}
      </div>
      {kind === 'subscription' ? (
        <>
          {existing ? (
            <Notice tone="warn" title="The extra header is replaced too">
              Enter its name and value again, or callbacks no longer have it.
            </Notice>
          ) : null}
          <Field
            name="headerKey"
            label="Extra header, name (optional)"
            error={errorOf('/headerKey')}
          />
          <Field
            name="headerValue"
            label="Extra header, value"
            autoComplete="off"
            error={errorOf('/headerValue')}
          />
        </>
      ) : null}
      {existing ? null : (
        <details>
          <summary>What it gets, and how</summary>
          <div className="form">
            <SettingsFields of={{}} errorOf={errorOf} />
          </div>
        </details>
      )}
    </FormDialog>
  )
}
