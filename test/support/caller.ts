// A client of the interface and the operator beside it, speaking plain HTTP over real sockets: the paths of what tests do
// on the way to what they test stand here alone.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { PLAIN, sampleBody } from './payment-sample.ts'

export interface SandboxFacts {
  baseUrl: string
  operatorKey: string
  clientId: string
  clientSecret: string
  accountId: string
}

export interface ListedEndpoint {
  id: string
  endpointUrl: string
  status: string
  [setting: string]: unknown
}

export interface JsonAnswer {
  status: number
  body: Record<string, unknown>
}

export async function toAnswer(response: Response): Promise<JsonAnswer> {
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

export class Caller {
  readonly #facts: SandboxFacts
  #token: string | undefined

  constructor(facts: SandboxFacts) {
    this.#facts = facts
  }

  async token(): Promise<string> {
    if (this.#token === undefined) {
      const { clientId, clientSecret } = this.#facts
      const response = await this.#post('/auth/token', { clientId, clientSecret })
      const { access_token } = (await response.json()) as { access_token: string }
      this.#token = access_token
    }
    return this.#token
  }

  async register(callbackUrl: string, sharedKey: string, settings: object = {}): Promise<Response> {
    const body = { callbackUrl, sharedKey, ...settings }
    return this.#post('/v1/webhooks/register', body, await this.headers())
  }

  /** Registers it and tells its id. */
  async addWebhook(callbackUrl: string, sharedKey: string, settings: object = {}): Promise<string> {
    const answer = await this.register(callbackUrl, sharedKey, settings)
    assert.equal(answer.status, 200, await answer.text())
    return this.webhookAt(callbackUrl)
  }

  /** The id of the webhook that is registered at this address. */
  async webhookAt(url: string): Promise<string> {
    const webhooks = await this.webhooks()
    return webhooks.find(({ endpointUrl }) => endpointUrl === url)?.id ?? assert.fail(url)
  }

  /** Subscribes and tells its id. */
  async addSubscription(callbackUrl: string, sharedKey: string): Promise<string> {
    const answer = await this.subscribe({ callbackUrl, sharedKey })
    assert.equal(answer.status, 201, await answer.text())
    return answer.headers.get('location')?.split('/').at(-1) ?? assert.fail('no Location')
  }

  async subscribe(subscription: Record<string, string>): Promise<Response> {
    return this.#post('/api/v1/payments/subscribe', subscription, await this.headers())
  }

  /** Of its account. */
  async webhooks(): Promise<ListedEndpoint[]> {
    const answer = await this.get('/v1/webhooks?size=100')
    return ((await answer.json()) as { content: ListedEndpoint[] }).content
  }

  getWebhook(id: string): Promise<Response> {
    return this.get(`/v1/webhooks/${id}`)
  }

  changeWebhook(id: string, changes: object): Promise<Response> {
    return this.call('PATCH', `/v1/webhooks/${id}`, changes)
  }

  deleteWebhook(id: string): Promise<Response> {
    return this.call('DELETE', `/v1/webhooks/${id}`)
  }

  /** What is done with one: `test`, `retry` and the like. */
  postToWebhook(id: string, action: string, body?: object): Promise<Response> {
    return this.call('POST', `/v1/webhooks/${id}/${action}`, body)
  }

  postToSubscription(id: string, action: string, body?: object): Promise<Response> {
    return this.call('POST', `/api/v1/payments/subscriptions/${id}/${action}`, body)
  }

  async get(path: string): Promise<Response> {
    return fetch(this.#facts.baseUrl + path, { headers: await this.headers() })
  }

  async call(method: string, path: string, body?: object): Promise<Response> {
    return this.#send(method, path, await this.headers(), body)
  }

  async headers(): Promise<Record<string, string>> {
    return { authorization: `Bearer ${await this.token()}`, accountid: this.#facts.accountId }
  }

  /** A call of the operator's side. */
  operate(method: string, path: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#facts.operatorKey}` }
    return this.#send(method, `/operator/v1${path}`, headers, body)
  }

  /** The sample as a new payment, with some members replaced; tells its id. */
  async pay(changes: Record<string, unknown> = {}): Promise<string> {
    const id = randomUUID()
    const answer = await this.putSample(id, changes)
    assert.equal(answer.status, 201, await answer.text())
    return id
  }

  /** The sample without its file, as the next update of a payment or as a new one; tells the payment's id. */
  async write(id?: string, reference = '1'): Promise<string> {
    if (id === undefined) return this.pay({ ...PLAIN, reference })
    await this.update(id, { document: undefined, reference })
    return id
  }

  /** The sample without its version, as the next update of a payment or as a new one; tells the event's id. */
  async update(id: string, changes: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.putSample(id, { version: undefined, ...changes })
    const text = await answer.text()
    assert.ok(answer.ok, text)
    return JSON.parse(text).event?.id
  }

  putSample(id: string, changes: Record<string, unknown> = {}): Promise<Response> {
    return this.putPayment(id, sampleBody({ ...changes, id }))
  }

  /** Lines of many payments, as the operator's side sends them. */
  putPayments(
    lines: readonly string[] | string | Buffer<ArrayBuffer>,
    type = 'application/x-ndjson',
  ): Promise<Response> {
    return fetch(`${this.#facts.baseUrl}/operator/v1/payments/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#facts.operatorKey}`, 'content-type': type },
      body: typeof lines === 'string' || Buffer.isBuffer(lines) ? lines : lines.join('\n'),
    })
  }

  /** A write of the operator's side; `body` may be text, so that amounts stay as written. */
  putPayment(
    id: string,
    body: object | string | Uint8Array<ArrayBuffer>,
    more: { headers?: Record<string, string>; redirect?: 'manual' } = {},
  ): Promise<Response> {
    return fetch(`${this.#facts.baseUrl}/operator/v1/payments/${id}`, {
      method: 'PUT',
      ...more,
      headers: {
        authorization: `Bearer ${this.#facts.operatorKey}`,
        accountid: this.#facts.accountId,
        'content-type': 'application/json',
        ...more.headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
  }

  #post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send('POST', path, headers, body)
  }

  #send(method: string, path: string, headers: Record<string, string>, body?: object) {
    return fetch(this.#facts.baseUrl + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}
