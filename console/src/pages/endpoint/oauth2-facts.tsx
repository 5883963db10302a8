// Where the token comes from that the callbacks of an endpoint carry. Its secret is never read.

import type { ReactNode } from 'react'
import { proofOf, type ShownOauth2 } from './oauth2-form.ts'

const PROOFS = {
  '': '',
  basic: 'a client secret, in a header',
  post: 'a client secret, in the body',
  key: 'a key for this client alone (private_key_jwt)',
  tls: 'the client certificate alone (RFC 8705)',
} as const

/** Where it was given. */
export function oauth2Facts(oauth2: ShownOauth2): (readonly [string, ReactNode])[] {
  if (!oauth2) return []
  const { tokenUrl, clientId, scope, audience } = oauth2
  return [
    [
      'Access token',
      <span key="token" className="break">
        {tokenUrl}, as <code>{clientId}</code>
      </span>,
    ],
    ['Got with', PROOFS[proofOf(oauth2)]],
    ...(scope ? [['Scope', scope] as const] : []),
    ...(audience ? [['Audience', audience] as const] : []),
  ]
}
