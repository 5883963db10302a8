// Sends as an endpoint with TLS settings asks for it: the certificate that it names is found first, in the moment of the
// attempt, so that a renewed one is shown as soon as it is known. Other endpoints pass without a promise more.

import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import type { EndpointTls } from '../../core/delivery/endpoint-tls.ts'
import type { CallbackClient } from './callback-client.ts'

/** By id, or the one that is the default. Null when there is none; rejects when that cannot be known. */
export type FindCertificate = (choice: string) => Promise<ShownCertificate | null>

const MISSING: Outcome = { kind: 'unsendable', reason: 'certificate-missing' }

export function createIdentifiedSend(
  client: CallbackClient,
  find: FindCertificate,
): (request: CallbackRequest) => Promise<AttemptResult> {
  const identified = async (request: CallbackRequest, tls: EndpointTls): Promise<AttemptResult> => {
    const { clientCertificate: choice, certificateAuthorities } = tls
    const shown = choice === null ? null : await find(choice)
    if (choice !== null && shown === null) return { outcome: MISSING, durationMs: 0 }
    const tlsSettings = client.tlsSettings(shown, certificateAuthorities)
    return client.send({ ...request, tlsSettings })
  }
  return (request) =>
    request.tls === null ? client.send(request) : identified(request, request.tls)
}
