// The TLS settings of an endpoint before they are kept: the certificate has to be there to be shown, and authorities have
// to be some. Refused with what is wrong; kept in one spelling, so that the same settings share connections.

import { CHAIN_CHARACTERS_MAX, readAuthorities } from '../../core/certificates/certificate-chain.ts'
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
import type { Db } from '../../store/connection/db.ts'
import { readCertificates } from '../../store/secrets/client-certificates.ts'
import type { Deps } from '../shared/deps.ts'
import { unusable } from '../shared/service-errors.ts'

export async function checkTls(
  deps: Pick<Deps, 'clock'>,
  db: Db,
  change: SettingsChange,
  /** As it is before the change. */
  endpoint: { url: string; settings: EndpointSettings | null },
): Promise<SettingsChange> {
  const { tls } = change
  if (tls === undefined || tls === null) return change
  if (toEndpointTls(tls) !== null && !usesTls(endpoint, change)) {
    throw unusable(
      '/tls',
      'This address is http://, where no certificate is shown or checked: give the https:// address of the receiver, or leave tls out.',
    )
  }
  if (tls.clientCertificate !== null) await assertShown(db, tls.clientCertificate)
  const certificateAuthorities =
    tls.certificateAuthorities && toAuthorities(tls.certificateAuthorities, deps.clock.nowMs())
  return { ...change, tls: toEndpointTls({ ...tls, certificateAuthorities }) }
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

async function assertShown(db: Db, choice: string): Promise<void> {
  const found = (await readCertificates(db)).some(
    ({ id, chain, isDefault }) =>
      chain !== null && (choice === DEFAULT_CERTIFICATE ? isDefault : id === choice),
  )
  if (found) return
  throw unusable(
    '/tls/clientCertificate',
    choice === DEFAULT_CERTIFICATE
      ? 'The service has no certificate to show yet: ask its operator for one.'
      : 'There is no such certificate: give an id of GET /v1/client-certificates, or "default".',
  )
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
