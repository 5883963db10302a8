// Default deny on the operator's side: a route that does not say which role suffices for it is a mistake
// of ours, and the server is not even built.

import type { FastifyInstance } from 'fastify'
import { ROLES } from '../core/operator.ts'

/** Before any route of the scope: it only hears of those that come after it. */
export function requireRoles(scope: FastifyInstance): void {
  scope.addHook('onRoute', ({ url, method, config }) => {
    const role = config?.role
    const name = `${[method].flat().join(', ')} ${url}`
    if (role === undefined || !ROLES.includes(role)) {
      throw new Error(`${name} does not say which role suffices: add config.role to the route`)
    }
    const isReading = [method].flat().every((one) => one === 'GET' || one === 'HEAD')
    if (isReading !== (role === 'viewer')) {
      throw new Error(`${name} has the role ${role}, but a viewer reads everything and no more`)
    }
  })
}
