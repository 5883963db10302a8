// The settings of an endpoint as a form gives them: what was changed, and nothing else.

import { EVENT_KINDS } from '../../../../sdk/src/internal/words.ts'
import type { EndpointSettings, EventChoice } from '../../../../sdk/src/wire/types.ts'
import type { Endpoint } from '../../api/types.ts'
import { readOauth2 } from './oauth2-form.ts'

export type ShownSettings = Pick<
  Partial<Endpoint>,
  | 'events'
  | 'deliver'
  | 'document'
  | 'signatures'
  | 'hmacHeaderName'
  | 'description'
  | 'tls'
  | 'oauth2'
>

/** The names begin with a mark, so that a form tells them from its other fields. */
export const MARK = 'setting-'

export function toAuthoritiesText(tls: ShownSettings['tls']): string {
  return (tls?.certificateAuthorities ?? []).map((pem) => pem.trim()).join('\n')
}

/** Those that differ from what was shown: what is left alone is not sent. Of `tls`, the parts that do. */
export function readSettingsForm(form: FormData, shown: ShownSettings): EndpointSettings {
  const text = (name: string) =>
    String(form.get(MARK + name) ?? '')
      .replaceAll('\r\n', '\n')
      .trim()
  const events = form.getAll(`${MARK}event`).map(String)
  const given = {
    events: events.length === EVENT_KINDS.length ? null : events,
    deliver: text('deliver'),
    document: text('document'),
    signatures: text('signatures').split(','),
    hmacHeaderName: text('hmacHeaderName'),
    description: text('description') || null,
  }
  const before = {
    events: shown.events?.includes('payment.*') ? null : (shown.events ?? null),
    deliver: shown.deliver ?? 'every',
    document: shown.document ?? 'inline',
    signatures: shown.signatures ?? ['hmac'],
    hmacHeaderName: shown.hmacHeaderName ?? 'X-Paybell-Hmac',
    description: shown.description ?? null,
  }
  const tls = changed(
    {
      clientCertificate: text('clientCertificate') || null,
      certificateAuthorities: text('certificateAuthorities') || null,
    },
    {
      clientCertificate: shown.tls?.clientCertificate ?? null,
      certificateAuthorities: toAuthoritiesText(shown.tls) || null,
    },
  )
  const oauth2 = readOauth2(text, shown.oauth2)
  return {
    ...changed(given, before),
    ...(Object.keys(tls).length > 0 ? { tls } : {}),
    ...(oauth2 === undefined ? {} : { oauth2 }),
  } as EndpointSettings
}

function changed(given: object, before: Readonly<Record<string, unknown>>): object {
  const isSame = (one: unknown, other: unknown) => {
    const ordered = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value)
    return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
  }
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !isSame(value, before[name])),
  )
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

/** What is wrong with a field or a part of it; with `isWhole`, with it alone. */
export type ErrorOf = (pointer: string, isWhole?: boolean) => string | undefined

export function errorsIn(
  problem: { fields: readonly { pointer: string; detail: string }[] } | null,
): ErrorOf {
  return (pointer, isWhole = false) =>
    problem?.fields.find((field) =>
      isWhole ? field.pointer === pointer : field.pointer.startsWith(pointer),
    )?.detail
}
