// What an endpoint gets, and how: shown with what each setting means, and changed.

import { useState } from 'react'
import type { EndpointSettings, EventChoice } from '../../../../sdk/src/wire/types.ts'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { Endpoint } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Notice } from '../../ui/basics/messages.tsx'
import { Facts, Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { CatchUpOffer } from './catch-up-offer.tsx'
import { oauth2Facts } from './oauth2-facts.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { addedKinds, errorsIn, readSettingsForm } from './settings-form.ts'
import { tlsFacts } from './tls-facts.tsx'

const DELIVER = {
  every: 'every update, in order',
  latest: 'only the latest of the updates that wait',
} as const
const DOCUMENT = {
  inline: 'in the body, as base64',
  link: 'as a link to fetch',
  none: 'not at all',
} as const

/** `path` is the endpoint in the client's API; null for the operator. */
export function SettingsPanel({
  endpoint,
  path,
  canAct,
}: {
  endpoint: Endpoint
  path: string | null
  canAct: boolean
}) {
  const [isChanging, setChanging] = useState(false)
  const [added, setAdded] = useState<readonly EventChoice[]>([])
  const canChange = canAct && !endpoint.deletedAt && endpoint.kind !== 'listener'
  return (
    <Panel
      title="What it gets"
      aside={
        canChange ? (
          <Button isSmall onClick={() => setChanging(true)}>
            Change
          </Button>
        ) : null
      }
    >
      <Facts
        of={[
          ['Events', endpoint.events?.join(', ') ?? 'all'],
          ['Updates', DELIVER[endpoint.deliver ?? 'every']],
          ['Documents', DOCUMENT[endpoint.document ?? 'inline']],
          ['Signatures', endpoint.signatures?.includes('ed25519') ? 'HMAC and Ed25519' : 'HMAC'],
          ['Signature header', <code key="header">{endpoint.hmacHeaderName}</code>],
          ...tlsFacts(endpoint.tls),
          ...oauth2Facts(endpoint.oauth2),
          ...(endpoint.description ? [['Description', endpoint.description] as const] : []),
        ]}
      />
      {isChanging ? (
        <ChangeSettings
          endpoint={endpoint}
          path={path}
          onWidened={setAdded}
          onClose={() => setChanging(false)}
        />
      ) : null}
      {path !== null && added.length > 0 ? (
        <CatchUpOffer path={path} events={added} onClose={() => setAdded([])} />
      ) : null}
    </Panel>
  )
}

function ChangeSettings({
  endpoint,
  path,
  onWidened,
  onClose,
}: {
  endpoint: Endpoint
  path: string | null
  /** It gets kinds of event that it did not get before. */
  onWidened(added: readonly EventChoice[]): void
  onClose(): void
}) {
  const refresh = useRefresh()
  const toast = useToast()
  // The page reads it again while the form is open: what was changed is held against what the form began with.
  const [shown] = useState(endpoint)
  const save = useAction(
    (settings: EndpointSettings) =>
      changeEndpoint(path ?? `/operator/v1/endpoints/${endpoint.id}`, settings),
    {
      onDone: (_, settings) => {
        refresh('/operator/v1/endpoints', '/v1/webhooks', '/api/v1/payments/subscriptions')
        const added = addedKinds(shown.events, settings.events)
        if (path !== null) onWidened(added)
        toast(
          path !== null || added.length === 0
            ? 'Changed. It holds from now on.'
            : 'Changed. It holds from now on: its owner can have earlier events sent with replay-missing.',
        )
        onClose()
      },
    },
  )
  const errorOf = errorsIn(save.error)
  const submit = (form: FormData) => {
    const settings = readSettingsForm(form, shown)
    if (Object.keys(settings).length === 0) onClose()
    else save.mutate(settings)
  }
  return (
    <FormDialog
      title="What this endpoint gets"
      action="Save"
      sending={save}
      marksFields
      onSubmit={submit}
      onClose={onClose}
    >
      <Notice tone="info" title="Settings hold for what happens from now on">
        What is pending is sent as it was decided; certificates, authorities and tokens hold for it,
        too.
      </Notice>
      <SettingsFields of={shown} errorOf={errorOf} />
    </FormDialog>
  )
}

/** Both parts of `tls` are one setting: the part that was not changed stays as it is. */
async function changeEndpoint(path: string, { tls, ...settings }: EndpointSettings): Promise<void> {
  const whole = tls && { tls: { ...(await api.get<Endpoint>(path)).tls, ...tls } }
  await api.patch(path, { ...settings, ...whole })
}
