// Which methods an address knows. The router answers 404 for a known address with another method,
// and lets `DELETE /v1/webhooks/list` fall through to `/v1/webhooks/:id`: both are 405 here.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../core/plain/errors.ts'

interface Pattern {
  matches: RegExp
  methods: Set<string>
}

export function tellAllowedMethods(app: FastifyInstance): void {
  const fixed = new Map<string, Set<string>>()
  const patterns = new Map<string, Pattern>()

  app.addHook('onRoute', ({ url, method }) => {
    const methods = [method].flat()
    if (/[:*]/.test(url)) {
      const pattern = patterns.get(url) ?? { matches: toRegExp(url), methods: new Set() }
      patterns.set(url, pattern)
      for (const one of methods) pattern.methods.add(one)
    } else {
      const allowed = fixed.get(url) ?? new Set()
      fixed.set(url, allowed)
      for (const one of methods) allowed.add(one)
    }
  })

  app.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request)
    const allowed = fixed.get(path)
    if (allowed !== undefined && !allowed.has(request.method))
      return done(notAllowed(reply, allowed))
    // Here, and not in the handler: of a method that may have a body the framework wants its type first.
    done(request.is404 ? refuse(path, reply) : undefined)
  })

  const refuse = (path: string, reply: FastifyReply): ServiceError => {
    const methods = new Set<string>()
    for (const pattern of patterns.values()) {
      if (!pattern.matches.test(path)) continue
      for (const method of pattern.methods) methods.add(method)
    }
    if (methods.size > 0) return notAllowed(reply, methods)
    return new ServiceError(
      'not-found',
      'This service has no such address: /docs lists all of them.',
    )
  }
}

function notAllowed(reply: FastifyReply, methods: ReadonlySet<string>): ServiceError {
  const allowed = [...methods].sort().join(', ')
  reply.header('allow', allowed)
  return new ServiceError('method-not-allowed', `This address takes ${allowed}.`)
}

function pathOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const end = url.search(/[?;#]/)
  return end < 0 ? url : url.slice(0, end)
}

function toRegExp(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : escapeRegExp(part)))
    .join('/')
  return new RegExp(`^${source}$`)
}

/** Node 22 has no RegExp.escape. */
function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
