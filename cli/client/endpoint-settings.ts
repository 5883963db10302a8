// The options of an endpoint's settings, and the settings as people read them.

import type { Command } from 'commander'
import type { Endpoint, EndpointSettings } from '../../sdk/src/wire/types.ts'
import {
  DELIVER_MODES,
  DOCUMENT_MODES,
  EVENT_CHOICES,
  SIGNATURE_KINDS,
} from '../../server/core/delivery/endpoint-settings.ts'
import { listOf, oneOf } from '../basics/parse.ts'

export interface SettingsOptions {
  events?: string[]
  allEvents?: boolean
  deliver?: string
  document?: string
  signatures?: string[]
  hmacHeaderName?: string
  description?: string
}

export function withSettings(command: Command): Command {
  return command
    .option('--events <kinds>', 'only these kinds of event, with commas', listOf(EVENT_CHOICES))
    .option('--all-events', 'all kinds of event again')
    .option('--deliver <mode>', 'every update, or only the latest', oneOf(DELIVER_MODES))
    .option('--document <mode>', 'files inline, as a link, or none', oneOf(DOCUMENT_MODES))
    .option('--signatures <kinds>', 'hmac, or hmac,ed25519', listOf(SIGNATURE_KINDS))
    .option('--hmac-header-name <name>', 'the header that carries the HMAC')
    .option('--description <text>', 'a note for people; empty for none')
}

/** The members that were given. */
export function toSettings(options: SettingsOptions): EndpointSettings {
  const { allEvents, events, deliver, document, signatures, hmacHeaderName, description } = options
  const given = {
    events: allEvents ? null : events,
    deliver,
    document,
    signatures,
    hmacHeaderName,
    description,
  }
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as EndpointSettings
}

export function settingFields(endpoint: Endpoint): [string, string | null][] {
  return [
    ['Events', endpoint.events?.join(', ') ?? 'all'],
    ['Deliver', endpoint.deliver ?? 'every'],
    ['Document', endpoint.document ?? 'inline'],
    ['Signatures', endpoint.signatures?.join(', ') ?? 'hmac'],
    ['Description', endpoint.description ?? null],
  ]
}
