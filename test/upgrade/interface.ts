// What clients do during an upgrade: a client made by the version before logs in at every process, and a token of
// one process is good at all others.

import assert from 'node:assert/strict'
import type { Processes } from './processes.ts'

export class Interface {
  readonly #processes: Processes
  readonly #operatorKey: string
  client = { clientId: '', clientSecret: '', accountId: '' }

  constructor(processes: Processes, operatorKey: string) {
    this.#processes = processes
    this.#operatorKey = operatorKey
  }

  /** Returns the id of its account. */
  async takeClient(): Promise<string> {
    const own = { authorization: `Bearer ${this.#operatorKey}` }
    const client = await this.#post('/operator/v1/clients', { name: 'Upgraded' }, own)
    const path = `/operator/v1/clients/${client.clientId}/accounts`
    const account = await this.#post(path, { name: 'Main' }, own)
    this.client = {
      clientId: client.clientId as string,
      clientSecret: client.clientSecret as string,
      accountId: account.id as string,
    }
    return this.client.accountId
  }

  async register(callbackUrl: string, sharedKey: string): Promise<void> {
    const token = await this.#login(this.#urls[0] as string)
    const own = { authorization: `Bearer ${token}`, accountid: this.client.accountId }
    await this.#post('/v1/webhooks/register', { callbackUrl, sharedKey }, own)
  }

  /** A token of each process is good at each. */
  async assertTokensWork(): Promise<void> {
    for (const issuer of this.#urls) {
      const authorization = `Bearer ${await this.#login(issuer)}`
      for (const url of this.#urls) {
        const answer = await fetch(`${url}/v1/webhooks`, { headers: { authorization } })
        assert.equal(answer.status, 200, await answer.text())
      }
    }
  }

  get #urls(): readonly string[] {
    return [...this.#processes.running].map(({ baseUrl }) => baseUrl)
  }

  async #login(url: string): Promise<string> {
    const { clientId, clientSecret } = this.client
    const { access_token } = await this.#post('/auth/token', { clientId, clientSecret }, {}, url)
    return access_token as string
  }

  async #post(
    path: string,
    body: object,
    headers: Record<string, string>,
    url = this.#urls[0],
  ): Promise<Record<string, unknown>> {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${path}: ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
}
