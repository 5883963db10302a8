// /documents/{link}: the file of a payment, for an endpoint that is sent links. The link is the credential.

import { Readable } from 'node:stream'
import { contentDisposition, DOCUMENTS_PATH } from '../../../core/payments/document-link.ts'
import { fetchDocument } from '../../../operations/payments/fetch-document.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { notFound } from '../../../operations/shared/service-errors.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { forAnyone } from '../../schemas/calls.ts'

export function documentRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: `${DOCUMENTS_PATH}/:link`,
      ...forAnyone({
        operationId: 'fetchDocument',
        tags: ['Events'],
        summary: 'Fetch the file of a payment by its link',
        description:
          'The `url` of a `document` in a callback, for endpoints whose `document` is `link`. It needs no token: keep it as secret as the file. It is good for 30 days, unless the operator has chosen otherwise, and while the endpoint exists and its client is active.',
        params: Type.Object({ link: Type.String() }),
        answers: {
          200: {
            description: 'The file.',
            content: {
              '*/*': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
            },
          },
        },
        problems: ['link-ended', 'payload-expired', 'client-moved'],
      }),
      handler: async (request, reply) => {
        const { link } = request.params
        // By the time it is a parameter it is decoded: `%2E` would be as good as a dot.
        if (request.raw.url !== `${DOCUMENTS_PATH}/${link}`) throw notFound()
        const { mediaType, name, sizeBytes, content } = await fetchDocument(deps, link)
        // Fastify reads what a HEAD does not send to its end: 10 MiB, for nothing.
        const sent = request.method === 'HEAD' ? [] : content
        return reply
          .headers({
            'content-type': mediaType,
            'content-length': sizeBytes,
            'content-disposition': contentDisposition(name),
            'x-content-type-options': 'nosniff',
          })
          .send(Readable.from(sent, { objectMode: false, highWaterMark: 1 }) as never)
      },
    })
  }
}
