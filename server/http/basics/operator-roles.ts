// Default deny on the operator's side: a route that does not name its role is a mistake of ours, and fails
// the build of the server.

import type { FastifyInstance } from 'fastify'
import { ROLES } from '../../core/plain/operator.ts'

/** Call before any route of the scope: it sees only routes that are added after it. */
export function requireRoles(scope: FastifyInstance): void {
  scope.addHook('onRoute', ({ url, method, config }) => {
    const role = config?.role
    const name = `${[method].flat().join(', ')} ${url}`
    if (role === undefined || !ROLES.includes(role)) {
      throw new Error(`${name} does not say which role suffices: add config.role to the route`)
    }
    const isReading = [method].flat().every((one) => one === 'GET' || one === 'HEAD')
    if (isReading !== (role === 'viewer' || role === 'auditor')) {
      throw new Error(`${name} has the role ${role}, but a viewer reads everything and no more`)
    }
  })
}
