// GET /v1/client-certificates: the public chains that the service shows to receivers of this client which ask who calls, so
// that a receiver can pin them.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import {
  type PublicCertificate,
  viewPublicChains,
} from '../../../operations/certificates/view-certificates.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Instant, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { WEBHOOKS } from '../../schemas/endpoint-doors.ts'
import { PageOf, PageQuery, toPageBody } from '../../schemas/page.ts'

export const PublicChain = Type.Object({
  id: Uuid,
  name: Type.String(),
  subject: Type.String(),
  fingerprintSha256: Type.String(),
  notAfter: Instant,
  isDefault: Type.Boolean({ description: 'Your endpoints that ask for `default` are shown it.' }),
  certificatePem: Type.String({ description: 'The chain, the service’s own certificate first.' }),
})

export function clientCertificateRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/client-certificates',
      ...forClients({
        operationId: 'listPublicCertificates',
        summary: 'List the client certificates that you may use',
        description:
          'What your receiver is shown when it asks who calls (mTLS), of those that the operator gave to you: choose one with `tls.clientCertificate`, and let your receiver trust it.',
        tags: WEBHOOKS.tags,
        querystring: PageQuery,
        answers: { 200: answer('One page, the oldest first.', PageOf(PublicChain)) },
      }),
      handler: async (request) =>
        toPageBody(
          await viewPublicChains(deps, callerOf(request).clientKey, toPageRequest(request.query)),
          toPublicChain,
        ),
    })
  }
}

function toPublicChain({ id, name, subject, isDefault, chain }: PublicCertificate) {
  if (chain === null) throw new Error('only whole ones are public')
  return {
    id,
    name,
    subject,
    fingerprintSha256: chain.fingerprint.toString('hex'),
    notAfter: chain.notAfter.toISOString(),
    isDefault,
    certificatePem: chain.pem,
  }
}
