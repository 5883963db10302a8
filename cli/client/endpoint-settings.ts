// The options of an endpoint's settings, and the settings as people read them.

import type { Command } from 'commander'
import type { Endpoint, EndpointSettings } from '../../sdk/src/wire/types.ts'
import {
  DELIVER_MODES,
  DOCUMENT_MODES,
  EVENT_CHOICES,
  SIGNATURE_KINDS,
} from '../../server/core/delivery/endpoint-settings.ts'
import { readPemFile } from '../basics/given-file.ts'
import { listOf, oneOf } from '../basics/parse.ts'
import { type TokenOptions, tokenFields, toOauth2, withToken } from './token-settings.ts'

const NONE = 'none'

export interface SettingsOptions extends TokenOptions {
  events?: string[]
  allEvents?: boolean
  deliver?: string
  document?: string
  signatures?: string[]
  hmacHeaderName?: string
  description?: string
  clientCertificate?: string
  caFile?: string
}

export function withSettings(command: Command): Command {
  const settings = command
    .option('--events <kinds>', 'only these kinds of event, with commas', listOf(EVENT_CHOICES))
    .option('--all-events', 'all kinds of event again')
    .option('--deliver <mode>', 'every update, or only the latest', oneOf(DELIVER_MODES))
    .option('--document <mode>', 'files inline, as a link, or none', oneOf(DOCUMENT_MODES))
    .option('--signatures <kinds>', 'hmac, or hmac,ed25519', listOf(SIGNATURE_KINDS))
    .option('--hmac-header-name <name>', 'the header that carries the HMAC')
    .option('--description <text>', 'a note for people; empty for none')
    .option(
      '--client-certificate <id>',
      'what the receiver is shown when it asks who calls: an id, default, or none',
    )
    .option(
      '--ca-file <file>',
      'PEM: authorities that vouch for the receiver in place of the public ones; none: the public ones',
    )
  return withToken(settings)
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
    tls: toTls(options),
    oauth2: toOauth2(options),
  }
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as EndpointSettings
}

/** Only what was given of it. */
function toTls({ clientCertificate, caFile }: SettingsOptions): EndpointSettings['tls'] {
  if (clientCertificate === undefined && caFile === undefined) return undefined
  return {
    ...(clientCertificate === undefined
      ? {}
      : { clientCertificate: clientCertificate === NONE ? null : clientCertificate }),
    ...(caFile === undefined
      ? {}
      : { certificateAuthorities: caFile === NONE ? null : readPemFile(caFile) }),
  }
}

export function settingFields(endpoint: Endpoint): [string, string | null][] {
  return [
    ['Events', endpoint.events?.join(', ') ?? 'all'],
    ['Deliver', endpoint.deliver ?? 'every'],
    ['Document', endpoint.document ?? 'inline'],
    ['Signatures', endpoint.signatures?.join(', ') ?? 'hmac'],
    ['Description', endpoint.description ?? null],
    ...tlsFields(endpoint),
    ...tokenFields(endpoint),
  ]
}

/** Where it was given. */
function tlsFields({ tls }: Endpoint): [string, string | null][] {
  if (tls === undefined) return []
  const { clientCertificate, certificateAuthorities } = tls
  return [
    ['Certificate', clientCertificate ?? 'none'],
    [
      'Authorities',
      certificateAuthorities === null
        ? 'the public ones'
        : `${certificateAuthorities.length} given`,
    ],
  ]
}
