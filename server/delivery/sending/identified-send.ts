// Sends as an endpoint asks for it whose receiver wants to know who calls: with the certificate that it names, found in the
// moment of the attempt among those of its client, and with a token. All of it is one attempt with one deadline. Other endpoints pass without a
// promise more.

import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import { type Outcome, outcomeCode } from '../../core/delivery/delivery.ts'
import { toClientCode } from '../../core/delivery/outcome-words.ts'
import type { CallbackOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import {
  readTokenAnswer,
  TOKEN_ANSWER_BYTES_MAX,
  type TokenAnswer,
  tokenUnreachable,
} from '../../core/tokens/token-answer.ts'
import { toTokenPost } from '../../core/tokens/token-request.ts'
import { BearerTokens } from './bearer-tokens.ts'
import type { CallbackClient } from './callback-client.ts'
import type { Begun } from './exchange.ts'
import { TimeLimit } from './time-limit.ts'
import type { TlsSettings } from './tls-settings.ts'

/** How the service proves who it is. */
export interface Identity {
  /** By id, or the one that is the default; of those that the client is given. Null when there is none; rejects when that
   *  cannot be known. */
  find(clientKey: number, choice: string): Promise<ShownCertificate | null>
  /** Signed for one request of a token, with the key that the service has for this client. */
  sign(clientKey: number, oauth2: CallbackOauth2): Promise<string>
}

type Identified = CallbackRequest & { tlsSettings: TlsSettings | null; begun: Begun }

const MISSING: Outcome = { kind: 'unsendable', reason: 'certificate-missing' }

export function createIdentifiedSend(
  client: CallbackClient,
  identity: Identity,
): (request: CallbackRequest) => Promise<AttemptResult> {
  const sender = new IdentifiedSender(client, identity)
  return (request) =>
    request.tls === null && request.oauth2 === null ? client.send(request) : sender.send(request)
}

class IdentifiedSender {
  readonly #client: CallbackClient
  readonly #identity: Identity
  readonly #tokens: BearerTokens

  constructor(client: CallbackClient, identity: Identity) {
    this.#client = client
    this.#identity = identity
    this.#tokens = new BearerTokens(client.limits.monotonicMs)
  }

  async send(request: CallbackRequest): Promise<AttemptResult> {
    const { monotonicMs, cautiousMs } = this.#client.limits
    const begun = { atMs: monotonicMs(), atCautiousMs: cautiousMs() }
    const { oauth2 } = request
    if (oauth2 === null) {
      const tlsSettings = await this.#tlsSettings(request)
      if (tlsSettings === 'missing') return this.#unsent(MISSING, begun)
      return this.#client.send({ ...request, tlsSettings, begun })
    }
    const first = await this.#sendWithToken(request, begun, oauth2)
    // With little time left a second try would fail for want of time, and hide what the receiver has said.
    if (!this.#isRejected(request, first) || this.#isLate(begun)) return first
    // The token may have been revoked: a new one is tried, once. A failure of our own leaves the answer that there is.
    return this.#sendWithToken(request, begun, oauth2).catch(() => first)
  }

  /** Of this moment: a certificate that was taken from the client is not shown because an attempt began before. */
  async #tlsSettings({ clientKey, tls }: CallbackRequest): Promise<TlsSettings | null | 'missing'> {
    if (tls === null) return null
    const { clientCertificate: choice, certificateAuthorities } = tls
    const shown = choice === null ? null : await this.#identity.find(clientKey, choice)
    if (choice !== null && shown === null) return 'missing'
    return this.#client.tlsSettings(shown, certificateAuthorities)
  }

  /** With the token that there is. One that the receiver does not take is not used again. */
  async #sendWithToken(
    request: CallbackRequest,
    begun: Begun,
    oauth2: CallbackOauth2,
  ): Promise<AttemptResult> {
    const tlsSettings = await this.#tlsSettings(request)
    if (tlsSettings === 'missing') return this.#unsent(MISSING, begun)
    const identified = { ...request, tlsSettings, begun }
    const key = JSON.stringify([oauth2, tlsSettings?.name])
    const known = this.#tokens.look(key)
    const token = known ?? (await this.#ask(key, identified, oauth2))
    if (typeof token !== 'string') return this.#unsent(token, begun)
    // The token endpoint may have taken its time.
    if (known === undefined && (await this.#tlsSettings(request)) !== tlsSettings) {
      return this.#unsent(MISSING, begun)
    }
    const headers = [...request.headers, 'authorization', `Bearer ${token}`]
    const result = await this.#client.send({ ...identified, headers })
    if (this.#isRejected(request, result)) this.#tokens.drop(key, token)
    return withoutToken(result, token)
  }

  #isRejected({ expectsRefusal = false }: CallbackRequest, { outcome }: AttemptResult): boolean {
    return !expectsRefusal && outcome.kind === 'answered' && outcome.status === 401
  }

  #isLate({ atMs }: Begun): boolean {
    const { monotonicMs, deadlineMs } = this.#client.limits
    return monotonicMs() - atMs > deadlineMs / 2
  }

  async #ask(
    key: string,
    request: Identified,
    oauth2: CallbackOauth2,
  ): Promise<string | Extract<Outcome, { kind: 'tokenless' }>> {
    const { deliveryId, retriedAtMs = 0 } = request
    const fetched = this.#tokens.get(key, () => this.#fetch(request, oauth2), {
      isFresh: deliveryId === null,
      retriedAtMs,
    })
    const answer = await this.#within(request.begun, fetched)
    if ('token' in answer) return answer.token
    return { kind: 'tokenless', reason: answer.reason, detail: answer.detail }
  }

  /** The settings of TLS hold for the token endpoint, too: with RFC 8705 it asks for the certificate as well. */
  async #fetch(request: Identified, oauth2: CallbackOauth2): Promise<TokenAnswer> {
    const { clientKey, tlsSettings, begun } = request
    const assertion = oauth2.privateKeyJwt ? await this.#identity.sign(clientKey, oauth2) : null
    const { outcome } = await this.#client.send({
      ...toTokenPost(oauth2, assertion),
      ...{ clientKey, tlsSettings, begun, keptBytesMax: TOKEN_ANSWER_BYTES_MAX },
    })
    if (outcome.kind === 'answered') return readTokenAnswer(outcome.status, outcome.excerpt)
    return tokenUnreachable(toClientCode(outcomeCode(outcome)))
  }

  /** An attempt that began later may have asked, and may wait for longer. */
  #within({ atMs }: Begun, answering: Promise<TokenAnswer>): Promise<TokenAnswer> {
    const { monotonicMs, deadlineMs } = this.#client.limits
    return new Promise((resolve, reject) => {
      const limit = new TimeLimit(monotonicMs, () => resolve(tokenUnreachable('timeout')))
      limit.set(atMs + deadlineMs)
      answering.then(resolve, reject).finally(() => limit.clear())
    })
  }

  #unsent(outcome: Outcome, { atMs }: Begun): AttemptResult {
    return { outcome, durationMs: this.#client.limits.monotonicMs() - atMs }
  }
}

/** A receiver may repeat the request in its answer: what it said is not kept then, because what is kept is shown. */
function withoutToken(result: AttemptResult, token: string): AttemptResult {
  const { outcome } = result
  if (outcome.kind !== 'answered' || outcome.excerpt === undefined) return result
  if (!Buffer.from(outcome.excerpt).includes(token)) return result
  const { excerpt: _, ...rest } = outcome
  return { ...result, outcome: rest }
}
