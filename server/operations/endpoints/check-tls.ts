// The TLS settings of an endpoint before they are kept: the certificate has to be the client's to be shown, and authorities
// have to be some. Refused with what is wrong; kept in one spelling, so that the same settings share connections.

import { CHAIN_CHARACTERS_MAX, readAuthorities } from '../../core/certificates/certificate-chain.ts'
import { isFor } from '../../core/certificates/certificate-clients.ts'
import {
  DEFAULT_SETTINGS,
  type EndpointSettings,
  type SettingsChange,
} from '../../core/delivery/endpoint-settings.ts'
import {
  AUTHORITIES_MAX,
  DEFAULT_CERTIFICATE,
  toEndpointTls,
} from '../../core/delivery/endpoint-tls.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import type { Db } from '../../store/connection/db.ts'
import { holdCertificates, readCertificates } from '../../store/secrets/client-certificates.ts'
import type { Deps } from '../shared/deps.ts'
import { unusable } from '../shared/service-errors.ts'

/**
 * Where a certificate is named: it stays what it is, and whose it is, until the transaction ends. Before any row is locked.
 */
export async function holdNamed(db: Db, { tls }: SettingsChange): Promise<void> {
  if (tls?.clientCertificate) await holdCertificates(db)
}

export async function checkTls(
  deps: Pick<Deps, 'clock'>,
  db: Db,
  change: SettingsChange,
  /** As it is before the change. */
  endpoint: { clientKey: number; url: string; settings: EndpointSettings | null },
): Promise<SettingsChange> {
  const { tls } = change
  if (tls === undefined || tls === null) return change
  if (toEndpointTls(tls) !== null && !usesTls(endpoint, change)) {
    throw unusable(
      '/tls',
      'This address is http://, where no certificate is shown or checked: give the https:// address of the receiver, or leave tls out.',
    )
  }
  const clientCertificate =
    tls.clientCertificate && (await readChoice(db, endpoint.clientKey, tls.clientCertificate))
  const certificateAuthorities =
    tls.certificateAuthorities && toAuthorities(tls.certificateAuthorities, deps.clock.nowMs())
  return { ...change, tls: toEndpointTls({ clientCertificate, certificateAuthorities }) }
}

/** What is asked for a token sees the certificate, too. */
function usesTls(
  { url, settings }: { url: string; settings: EndpointSettings | null },
  change: SettingsChange,
): boolean {
  const { oauth2 } = change.oauth2 === undefined ? (settings ?? DEFAULT_SETTINGS) : change
  const urls = oauth2 ? [url, oauth2.tokenUrl] : [url]
  return urls.some((one) => new URL(one).protocol === 'https:')
}

const CHOICE = '/tls/clientCertificate'

/** A certificate of other clients and one that is not there are refused in the same words. */
async function readChoice(db: Db, clientKey: number, given: string): Promise<string> {
  const choice = given.toLowerCase()
  const isDefaultMeant = given === DEFAULT_CERTIFICATE
  if (!isDefaultMeant && !isUuid(choice)) {
    throw unusable(CHOICE, 'Give an id of GET /v1/client-certificates, "default", or null.')
  }
  const found = (await readCertificates(db)).some(
    ({ id, chain, clients, isDefault }) =>
      chain !== null && isFor(clients, clientKey) && (isDefaultMeant ? isDefault : id === choice),
  )
  if (found) return choice
  if (isDefaultMeant) {
    throw unusable(
      CHOICE,
      'This client has no default certificate: give an id of GET /v1/client-certificates, or ask the operator for one.',
    )
  }
  const detail =
    'This client has no such certificate: give an id of GET /v1/client-certificates, or "default".'
  throw new ServiceError('not-found', detail, {
    errors: [{ pointer: CHOICE, code: 'unusable', detail }],
  })
}

/** With RFC 8705 the certificate is all that the service proves itself with: there has to be one, and TLS to show it in. */
export function assertTokenCertificate(settings: EndpointSettings | null): void {
  const { oauth2, tls } = settings ?? DEFAULT_SETTINGS
  if (oauth2?.authentication !== 'tls') return
  if (!tls?.clientCertificate) {
    throw unusable(
      CHOICE,
      'The token is asked for with the client certificate alone (oauth2.authentication "tls"): choose one.',
    )
  }
  if (new URL(oauth2.tokenUrl).protocol !== 'https:') {
    throw unusable(
      '/oauth2/tokenUrl',
      'This address is http://, where no client certificate is shown: give the https:// address of the token endpoint.',
    )
  }
}

/** One certificate each. */
function toAuthorities(given: readonly string[], nowMs: number): readonly string[] {
  const pointer = '/tls/certificateAuthorities'
  const text = given.join('\n')
  if (text.length > CHAIN_CHARACTERS_MAX) {
    throw unusable(pointer, `Give at most ${CHAIN_CHARACTERS_MAX / 1_024} KiB of certificates.`)
  }
  const read = readAuthorities(text, nowMs)
  if ('refused' in read) throw unusable(pointer, read.refused)
  if (read.length > AUTHORITIES_MAX) {
    throw unusable(pointer, `Give at most ${AUTHORITIES_MAX} certificates.`)
  }
  return read.map((one) => one.toString())
}
