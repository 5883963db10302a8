// GET /.well-known/security.txt (RFC 9116): where to report a vulnerability. Only where the operator has said so,
// and only until the date that the operator has given.

import type { Config } from '../../../config/config.ts'
import type { SecurityContact } from '../../../config/security-contact.ts'
import { ServiceError } from '../../../core/plain/errors.ts'
import type { Routes } from '../../basics/typed.ts'
import { HIDDEN } from '../../schemas/calls.ts'

const PATH = '/.well-known/security.txt'

export interface SecurityTxtDeps {
  config: Pick<Config, 'securityContact' | 'baseUrl'>
  clock: { nowMs(): number }
}

export function securityTxtRoutes({ config, clock }: SecurityTxtDeps): Routes {
  const { securityContact, baseUrl } = config
  return (app) => {
    if (securityContact === null) return
    const text = toText(securityContact, baseUrl)
    const endsAtMs = Date.parse(securityContact.expiresAt)
    app.get(PATH, HIDDEN, async (_request, reply) => {
      if (clock.nowMs() >= endsAtMs) {
        throw new ServiceError('not-found', 'What was here has expired.')
      }
      reply.headers({
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'public, max-age=3600',
      })
      return reply.send(text as unknown as never)
    })
  }
}

function toText({ contacts, expiresAt }: SecurityContact, baseUrl: string | null): string {
  return [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expiresAt}`,
    ...(baseUrl === null ? [] : [`Canonical: ${baseUrl}${PATH}`]),
    '',
  ].join('\n')
}
