// Two OAuth client libraries, unchanged, get tokens from a service that listens, after they have discovered
// where (RFC 8414), and read the errors that it answers.

import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { OAuth2Client, OAuth2HttpError } from '@badgateway/oauth2-client'
import * as oauth from 'oauth4webapi'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { onboard, serveHttp } from '../../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

async function listen(t: TestContext) {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const issuer = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`
  server.deps.baseUrl = () => issuer
  const use = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${issuer}/v1/webhooks`, { headers })).status
  }
  return { ...client, issuer, use }
}

test('oauth4webapi: discovery, then a token by either method', async (t) => {
  const { issuer, clientId, clientSecret, use } = await listen(t)
  // Without it the library insists on https.
  const options = { [oauth.allowInsecureRequests]: true }
  const found = await oauth.discoveryRequest(new URL(issuer), { ...options, algorithm: 'oauth2' })
  const service = await oauth.processDiscoveryResponse(new URL(issuer), found)
  const request = (authentication: oauth.ClientAuth, grant = 'client_credentials') =>
    oauth.genericTokenEndpointRequest(
      service,
      { client_id: clientId },
      authentication,
      grant,
      {},
      options,
    )
  for (const method of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
    const answer = await request(method(clientSecret))
    const read = await oauth.processClientCredentialsResponse(
      service,
      { client_id: clientId },
      answer,
    )
    assert.deepEqual([read.token_type, read.expires_in], ['bearer', 3_600])
    assert.equal(await use(read.access_token), 200)
  }
  const refused = await request(oauth.ClientSecretBasic('wrong'))
  await assert.rejects(
    oauth.processClientCredentialsResponse(service, { client_id: clientId }, refused),
    (error) => error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401,
  )
  const odd = await request(oauth.ClientSecretPost(clientSecret), 'password')
  await assert.rejects(
    oauth.processGenericTokenEndpointResponse(service, { client_id: clientId }, odd),
    (error) => error instanceof oauth.ResponseBodyError && error.error === 'unsupported_grant_type',
  )
})

test('oauth2-client: discovery, then a token by each of its methods', async (t) => {
  const { issuer, clientId, clientSecret, use } = await listen(t)
  const create = (secret: string, authenticationMethod?: 'client_secret_basic') =>
    new OAuth2Client({
      clientId,
      clientSecret: secret,
      discoveryEndpoint: `${issuer}/.well-known/oauth-authorization-server`,
      ...(authenticationMethod ? { authenticationMethod } : {}),
    })
  for (const method of [undefined, 'client_secret_basic', 'client_secret_post'] as const) {
    const client = create(clientSecret, method as 'client_secret_basic' | undefined)
    const { accessToken, expiresAt } = await client.clientCredentials({ scope: ['ignored'] })
    assert.ok(expiresAt !== null)
    assert.equal(await use(accessToken), 200)
  }
  await assert.rejects(create('wrong').clientCredentials(), (error) => {
    assert.ok(error instanceof OAuth2HttpError)
    assert.deepEqual([error.httpCode, error.oauth2Code], [401, 'invalid_client'])
    return true
  })
  await assert.rejects(
    create(clientSecret).password({ username: 'a', password: 'b' }),
    (error) => error instanceof OAuth2HttpError && error.oauth2Code === 'unsupported_grant_type',
  )
})
