// GET /.well-known/paybell-egress.json: where callbacks come from, for receivers that let in only what they list. What the
// operator has said; 404 where nothing was.

import type { Config } from '../../../config/config.ts'
import { notFound } from '../../../operations/shared/service-errors.ts'
import { Instant } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forAnyone } from '../../schemas/calls.ts'

const Egress = Type.Object(
  {
    addresses: Type.Array(Type.String({ description: 'A network, as a CIDR.' })),
    updatedAt: Type.Unsafe<string>({
      ...Instant,
      description: 'When the process that answers has read the setting, at its start.',
    }),
  },
  { examples: [{ addresses: ['192.0.2.0/28'], updatedAt: '2026-03-02T09:30:00.400Z' }] },
)

export interface EgressDeps {
  config: Pick<Config, 'egressAddresses'>
  clock: { nowMs(): number }
}

export function egressRoutes({ config, clock }: EgressDeps): Routes {
  const { egressAddresses } = config
  const updatedAt = new Date(clock.nowMs()).toISOString()
  return (app) => {
    app.route({
      method: 'GET',
      url: '/.well-known/paybell-egress.json',
      ...forAnyone({
        operationId: 'getEgressAddresses',
        tags: ['Webhook endpoints'],
        summary: 'Networks that callbacks come from',
        description:
          'For receivers behind a firewall that lists addresses. Ask again once a day: new ones are shown before they are used. Still verify every signature, because an address proves nothing.',
        answers: { 200: answer('The networks.', Egress) },
        problems: ['not-found'],
      }),
      handler: async (_request, reply) => {
        if (egressAddresses === null) throw notFound()
        reply.header('cache-control', 'public, max-age=3600')
        return { addresses: [...egressAddresses], updatedAt }
      },
    })
  }
}
