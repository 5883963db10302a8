// Calls of the operator that name a client, or an account of one. While its rows are copied to another cell, an act on it
// is refused; once it has moved, every call about it is sent on, because what is left of it here answers nothing. Acts on
// what it owns are refused by the database (store/moves/move-fence.ts), and what has gone is unknown here, as any other id is.

import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { AccountDirectory } from '../../operations/access/account-directory.ts'
import { type ClientMoves, checkOperatorCall } from '../../operations/access/move-checks.ts'

const ONE_CLIENT = '/operator/v1/clients/:id'

interface Named {
  clientId?: unknown
  accountId?: unknown
}

/** Call before any route of the scope: it sees only routes that are added after it. */
export function sendMovedOn(
  scope: FastifyInstance,
  moves: ClientMoves,
  accounts: AccountDirectory,
): void {
  const check = async (request: FastifyRequest) => {
    const current = await moves.current()
    if (current.size === 0) return
    const { clientId, accountId } = readNamed(request)
    if (typeof clientId === 'string') {
      const id = clientId.toLowerCase()
      const move = [...current.values()].find((one) => one.clientId === id)
      checkOperatorCall(move, request, id)
    }
    if (typeof accountId === 'string') {
      const id = accountId.toLowerCase()
      const clientKey = await accounts.findOne(id)
      if (clientKey !== null) checkOperatorCall(current.get(clientKey), request, id)
    }
  }
  scope.addHook('onRoute', (route) => {
    // Only these, because payments are written thousands of times a second.
    if (canName(route)) route.preHandler = [check, ...[route.preHandler ?? []].flat()]
  })
}

/** In its path, in its query, or in the filter of its body: by what its schema says. */
function canName({ url, schema }: RouteOptions): boolean {
  const query = propertiesOf(schema?.querystring)
  const filter = propertiesOf(propertiesOf(schema?.body).filter)
  return url.startsWith(ONE_CLIENT) || 'clientId' in query || 'clientId' in filter
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {}
}

function readNamed({ params, query, body, route }: FastifyRequest): Named {
  if (route?.url?.startsWith(ONE_CLIENT)) return { clientId: (params as { id: string }).id }
  const { filter } = (body ?? {}) as { filter?: Named }
  return filter ?? (query as Named)
}
