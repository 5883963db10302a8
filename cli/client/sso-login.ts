// `paybell login --sso`: an operator's session of 8 hours, by way of the browser, in which the person agrees. It comes back as
// a code to a port of this machine's loopback address; only who began here can turn the code into the session (RFC 7636,
// RFC 8252 §7.3).

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toComparisonCode } from '../../server/core/proofs/comparison-code.ts'
import { Api } from '../basics/api.ts'
import type { Call } from '../basics/command.ts'
import type { SavedService } from '../basics/profiles.ts'
import { UsageError } from '../basics/run.ts'
import { safe } from '../basics/terminal.ts'
import { openInBrowser } from './open.ts'

const WAIT_MS_MAX = 10 * 60_000

interface HandedSession {
  token: string
  expiresAt: string
  actor: string
  role: string
}

/** With whom it is, in words. */
export async function ssoService(
  call: Call<{ browser?: boolean }>,
  baseUrl: string,
): Promise<{ service: SavedService; as: string }> {
  const api = new Api({ url: baseUrl, bearer: null, refusedHint: 'Sign in again.' })
  const { signInWith } = (await api.get('/console/session')).json<{ signInWith?: string }>()
  if (signInWith === undefined) {
    throw new UsageError(
      `${baseUrl} offers no sign-in with a company. Its operator sets PAYBELL_OIDC_ISSUER; with an operator port, give the address of that one.`,
    )
  }
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const server = createServer()
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const query = new URLSearchParams({ port: String(port), state, challenge })
    const url = `${api.url}/console/oidc/sign-in?${query}`
    call.note(`Sign in with ${safe(signInWith)} in your browser:\n${url}`)
    call.note(`It shows the code ${toComparisonCode(challenge)} before it asks you to allow this.`)
    const code = codeFor(server, state)
    if (call.options.browser !== false) openInBrowser(call, url)
    const body = { code: await code, verifier }
    const answer = await api.post('/console/oidc/session', body)
    const { token, expiresAt, actor, role } = answer.json<HandedSession>()
    call.note(`The session ends at ${safe(expiresAt)}.`)
    return { service: { baseUrl, operatorKey: token }, as: safe(`${actor}, with the role ${role}`) }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Whatever else asks at this port is not the browser that was sent. */
function codeFor(server: Server, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const impatience = setTimeout(
      () => reject(new UsageError('no one has signed in for 10 minutes. Start again.')),
      WAIT_MS_MAX,
    )
    server.on('close', () => clearTimeout(impatience))
    server.on('request', (request, response) => {
      const query = new URLSearchParams(request.url?.split('?')[1] ?? '')
      const code = query.get('code')
      const isRefused = query.has('error')
      if ((code === null && !isRefused) || query.get('state') !== state) {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
      const outcome = code === null ? 'Nothing was signed in' : 'You are signed in'
      response.end(`${outcome}. Close this window and go on in the terminal.\n`, () => {
        if (code === null) reject(new UsageError('the sign-in was cancelled in the browser.'))
        else resolve(code)
      })
    })
  })
}
