// The body of a PATCH of an endpoint: its status, settings, or both; never nothing.

import type { Static } from 'typebox'
import { OWNER_STATUSES } from '../../core/delivery/endpoint.ts'
import type { EndpointChange } from '../../operations/endpoints/change-endpoint.ts'
import { Type } from '../basics/type.ts'
import { invalidFields } from '../basics/validation.ts'
import { REFUSED_SETTINGS, readSettings, SettingsFields } from './endpoint-settings-schema.ts'

const Status = Type.Enum([...OWNER_STATUSES])

/** Of a listener, which has no settings. */
export const StatusChange = Type.Object(
  { status: Status },
  { examples: [{ status: 'PAUSED' }], refused: REFUSED_SETTINGS },
)

export function aboutPausing(noun: string): string {
  return `A paused ${noun} loses nothing: its deliveries go out when it is resumed. Settings hold for what happens from now on.`
}

const names = ['status', ...Object.keys(SettingsFields)]

export const EndpointChangeBody = Type.Object(
  { status: Type.Optional(Status), ...SettingsFields },
  {
    examples: [
      { status: 'PAUSED' },
      { events: ['payment.paid', 'payment.cancelled'] },
      {
        oauth2: {
          tokenUrl: 'https://auth.example.com/token',
          clientId: 'paybell',
          privateKeyJwt: true,
          scope: 'payments',
        },
      },
    ],
    published: { anyOf: names.map((name) => ({ required: [name] })) },
  },
)

export function readEndpointChange(body: Static<typeof EndpointChangeBody>): EndpointChange {
  if (!names.some((name) => name in body)) {
    const detail = `Give the status, or a setting: ${names.slice(1).join(', ')}.`
    throw invalidFields([{ pointer: '/status', code: 'missing', detail }])
  }
  return { status: body.status ?? null, settings: readSettings(body) }
}
