// The few calls of the client interface that scenarios need.

import type { RunningPaybell } from '../paybell/system.ts'

export class ClientCalls {
  readonly token: string
  readonly #paybell: RunningPaybell

  private constructor(paybell: RunningPaybell, token: string) {
    this.#paybell = paybell
    this.token = token
  }

  static async login(paybell: RunningPaybell): Promise<ClientCalls> {
    const { clientId, clientSecret } = paybell.prepared
    const response = await fetch(`${paybell.baseUrl}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ clientId, clientSecret }),
    })
    const { access_token } = (await response.json()) as { access_token: string }
    return new ClientCalls(paybell, access_token)
  }

  async setStatus(
    endpoint: { id: string; accountId: string },
    status: 'ACTIVE' | 'PAUSED',
  ): Promise<void> {
    const response = await fetch(`${this.#paybell.baseUrl}/v1/webhooks/${endpoint.id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${this.token}`,
        accountid: endpoint.accountId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ status }),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  }
}
