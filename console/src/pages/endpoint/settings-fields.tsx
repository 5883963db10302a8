// What an endpoint gets, and how: the settings as a form, each with what it means.

import { EVENT_KINDS } from '../../../../sdk/src/internal/words.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { Oauth2Fields } from './oauth2-fields.tsx'
import { type ErrorOf, MARK, type ShownSettings } from './settings-form.ts'
import { TlsFields } from './tls-fields.tsx'

export function SettingsFields({ of, errorOf }: { of: ShownSettings; errorOf: ErrorOf }) {
  const chosen = of.events?.includes('payment.*') ? null : (of.events ?? null)
  return (
    <>
      <fieldset className="field">
        <legend>Events</legend>
        <div className="ticks">
          {EVENT_KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                name={`${MARK}event`}
                value={kind}
                defaultChecked={chosen === null || chosen.includes(kind)}
              />
              {kind}
            </label>
          ))}
        </div>
        <span className="field-hint">
          What is not chosen makes no delivery, and X-Paybell-Sequence skips numbers.
        </span>
        {errorOf('/events') ? <span className="field-error">{errorOf('/events')}</span> : null}
      </fieldset>
      <Select
        name={`${MARK}deliver`}
        label="Updates"
        defaultValue={of.deliver ?? 'every'}
        options={[
          ['every', 'Every update, in order'],
          ['latest', 'Only the latest of those that wait'],
        ]}
        hint="With the latest only, updates that were overtaken end as SUPERSEDED."
        error={errorOf('/deliver')}
      />
      <Select
        name={`${MARK}document`}
        label="Documents"
        defaultValue={of.document ?? 'inline'}
        options={[
          ['inline', 'In the body, as base64'],
          ['link', 'As a link to fetch'],
          ['none', 'Not at all'],
        ]}
        hint="A link needs no token, is good for 30 days by default, and ends with the endpoint."
        error={errorOf('/document')}
      />
      <Select
        name={`${MARK}signatures`}
        label="Signatures"
        defaultValue={of.signatures?.includes('ed25519') ? 'hmac,ed25519' : 'hmac'}
        options={[
          ['hmac', 'HMAC'],
          ['hmac,ed25519', 'HMAC and Ed25519'],
        ]}
        hint="Ed25519 is checked with a public key, so that no secret is needed for it."
        error={errorOf('/signatures')}
      />
      <Field
        name={`${MARK}hmacHeaderName`}
        label="Header of the HMAC"
        defaultValue={of.hmacHeaderName ?? 'X-Paybell-Hmac'}
        hint="For receivers that were written for another sender. Begins with X-."
        error={errorOf('/hmacHeaderName')}
      />
      <Field
        name={`${MARK}description`}
        label="Description"
        defaultValue={of.description ?? ''}
        maxLength={200}
        hint="A note for people."
        error={errorOf('/description')}
      />
      <TlsFields of={of.tls} errorOf={errorOf} />
      <Oauth2Fields of={of.oauth2} errorOf={errorOf} />
    </>
  )
}
