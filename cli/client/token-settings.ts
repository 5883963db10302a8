// The options of an endpoint whose receiver asks for a token, and these settings as people read them.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Endpoint, EndpointOauth2, EndpointSettings } from '../../sdk/src/wire/types.ts'
import {
  TOKEN_AUTHENTICATIONS,
  type TokenAuthentication,
} from '../../server/core/tokens/endpoint-oauth2.ts'
import { oneOf } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'

const NONE = 'none'

export interface TokenOptions {
  tokenUrl?: string
  tokenClientId?: string
  tokenClientSecretFile?: string
  tokenPrivateKeyJwt?: boolean
  tokenScope?: string
  tokenAudience?: string
  tokenAuthentication?: TokenAuthentication
}

export function withToken(command: Command): Command {
  return command
    .option('--token-url <url>', 'token endpoint of the receiver (OAuth 2.0); none: no token')
    .option('--token-client-id <id>', 'as whom Paybell asks for a token')
    .option('--token-client-secret-file <file>', 'file with the secret of that client')
    .option(
      '--token-private-key-jwt',
      'no secret: a key that Paybell has for you, of /.well-known/clients/{clientId}/jwks.json',
    )
    .option('--token-scope <scope>', 'scope of the token; empty for none')
    .option('--token-audience <audience>', 'audience of the token; empty for none')
    .option(
      '--token-authentication <where>',
      'the secret in the header (basic), in the body (post), or the client certificate alone (tls)',
      oneOf(TOKEN_AUTHENTICATIONS),
    )
}

/** Only what was given of it; null takes it back. */
export function toOauth2(options: TokenOptions): EndpointSettings['oauth2'] {
  const { tokenUrl, tokenClientId, tokenClientSecretFile, tokenPrivateKeyJwt } = options
  const { tokenScope, tokenAudience, tokenAuthentication } = options
  if (tokenUrl === NONE) return null
  if (tokenPrivateKeyJwt && tokenClientSecretFile !== undefined) {
    throw new UsageError('give --token-client-secret-file or --token-private-key-jwt, not both.')
  }
  const given = {
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(tokenClientId !== undefined && { clientId: tokenClientId }),
    ...(tokenClientSecretFile !== undefined && {
      clientSecret: readSecret(tokenClientSecretFile),
      privateKeyJwt: false,
    }),
    // In the body, whatever the secret was before.
    ...(tokenPrivateKeyJwt && { privateKeyJwt: true, authentication: 'post' }),
    ...(tokenScope !== undefined && { scope: tokenScope || null }),
    ...(tokenAudience !== undefined && { audience: tokenAudience || null }),
    ...(tokenAuthentication !== undefined && { authentication: tokenAuthentication }),
  }
  // What is missing is the service's to say: it knows what was given before.
  return Object.keys(given).length === 0 ? undefined : (given as EndpointOauth2)
}

/** A newline at its end is dropped. */
function readSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Where it was given. */
export function tokenFields({ oauth2 }: Endpoint): [string, string | null][] {
  if (oauth2 === undefined) return []
  const proof = proofOf(oauth2)
  return [
    ['Token from', oauth2.tokenUrl],
    ['Token client', `${oauth2.clientId}, ${proof}`],
    ...(oauth2.scope === null ? [] : [['Token scope', oauth2.scope] as [string, string]]),
    ...(oauth2.audience === null ? [] : [['Token audience', oauth2.audience] as [string, string]]),
  ]
}

function proofOf({ privateKeyJwt, authentication }: NonNullable<Endpoint['oauth2']>): string {
  if (privateKeyJwt) return 'private_key_jwt'
  return authentication === 'tls' ? 'client certificate' : `secret (${authentication})`
}
