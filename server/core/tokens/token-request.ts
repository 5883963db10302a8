// The request for a token, by the client credentials grant (RFC 6749 §4.4): as a form, with the proof of the client in a
// header, in the body, as an assertion (RFC 7523 §2.2), or in the TLS of the connection (RFC 8705 §2).

import { USER_AGENT } from '../signatures/callback-headers.ts'
import type { CallbackOauth2 } from './endpoint-oauth2.ts'

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export interface TokenPost {
  url: string
  headers: readonly string[]
  body: readonly Uint8Array[]
}

/** `assertion`: signed for this request; null where the client has a secret or a certificate. */
export function toTokenPost(oauth2: CallbackOauth2, assertion: string | null): TokenPost {
  const { tokenUrl, clientId, clientSecret, authentication, scope, audience } = oauth2
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== null) form.set('scope', scope)
  if (audience !== null) form.set('audience', audience)
  const headers = [
    ...['content-type', 'application/x-www-form-urlencoded'],
    ...['accept', 'application/json', 'user-agent', USER_AGENT],
  ]
  if (assertion !== null) {
    form.set('client_id', clientId)
    form.set('client_assertion_type', ASSERTION_TYPE)
    form.set('client_assertion', assertion)
  } else if (authentication === 'tls') {
    form.set('client_id', clientId)
  } else if (authentication === 'post') {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret ?? '')
  } else {
    headers.push('authorization', basic(clientId, clientSecret ?? ''))
  }
  return { url: tokenUrl, headers, body: [Buffer.from(form.toString())] }
}

/** Both parts are encoded as in a form, so that a colon in one of them divides nothing (RFC 6749 §2.3.1). */
function basic(clientId: string, clientSecret: string): string {
  const pair = `${formText(clientId)}:${formText(clientSecret)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

function formText(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
