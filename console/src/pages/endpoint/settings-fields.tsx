// What an endpoint gets, and how: the settings as a form, each with what it means.

import { EVENT_KINDS } from '../../../../sdk/src/internal/words.ts'
import type { EndpointSettings, EventChoice } from '../../../../sdk/src/wire/types.ts'
import type { Endpoint } from '../../api/types.ts'
import { Field, Select } from '../../ui/forms/field.tsx'

type Given = Pick<
  Partial<Endpoint>,
  'events' | 'deliver' | 'document' | 'signatures' | 'hmacHeaderName' | 'description'
>

/** The names begin with a mark, so that a form tells them from its other fields. */
const MARK = 'setting-'

export function SettingsFields({
  of,
  errorOf,
}: {
  of: Given
  errorOf(pointer: string): string | undefined
}) {
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
    </>
  )
}

/** Those that differ from what was shown: what is left alone is not sent. */
export function readSettingsForm(form: FormData, shown: Given): EndpointSettings {
  const text = (name: string) => String(form.get(MARK + name) ?? '').trim()
  const events = form.getAll(`${MARK}event`).map(String)
  const given = {
    events: events.length === EVENT_KINDS.length ? null : events,
    deliver: text('deliver'),
    document: text('document'),
    signatures: text('signatures').split(','),
    hmacHeaderName: text('hmacHeaderName'),
    description: text('description') || null,
  }
  const before: Record<string, unknown> = {
    events: shown.events?.includes('payment.*') ? null : (shown.events ?? null),
    deliver: shown.deliver ?? 'every',
    document: shown.document ?? 'inline',
    signatures: shown.signatures ?? ['hmac'],
    hmacHeaderName: shown.hmacHeaderName ?? 'X-Paybell-Hmac',
    description: shown.description ?? null,
  }
  const isSame = (one: unknown, other: unknown) => {
    const ordered = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value)
    return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
  }
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !isSame(value, before[name])),
  ) as EndpointSettings
}

/** The kinds that an endpoint gets after a change, and did not get before. */
export function addedKinds(
  before: Endpoint['events'],
  after: EndpointSettings['events'],
): readonly EventChoice[] {
  if (after === undefined) return []
  const gets = (events: Endpoint['events'], kind: EventChoice) =>
    !events || events.includes('payment.*') || events.includes(kind)
  return EVENT_KINDS.filter((kind) => gets(after, kind) && !gets(before, kind))
}

export function isSettingsField(name: string): boolean {
  return name.startsWith(MARK)
}
