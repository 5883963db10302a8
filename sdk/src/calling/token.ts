// The access token: fetched once for all who wait, kept, and renewed before it ends.

export interface Token {
  value: string
  lifetimeSeconds: number
}

/** A new token is fetched when this share of the old one's life is over. */
const RENEW_AFTER = 0.8

export class TokenKeeper {
  readonly #fetchToken: () => Promise<Token>
  readonly #now: () => number
  #token: { value: string; renewAtMs: number; endsAtMs: number } | undefined
  #fetching: Promise<string> | undefined

  constructor(fetchToken: () => Promise<Token>, now: () => number = Date.now) {
    this.#fetchToken = fetchToken
    this.#now = now
  }

  async get(): Promise<string> {
    const token = this.#token
    const now = this.#now()
    if (token && now < token.renewAtMs) return token.value
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = undefined
    })
    try {
      return await this.#fetching
    } catch (error) {
      // The old token is still good; the next call tries again.
      if (token && token === this.#token && this.#now() < token.endsAtMs) return token.value
      throw error
    }
  }

  /** The service has refused this token. When many callers report it, only the first report has an effect. */
  refuse(value: string): void {
    if (this.#token?.value === value) this.#token = undefined
  }

  async #renew(): Promise<string> {
    const { value, lifetimeSeconds } = await this.#fetchToken()
    const now = this.#now()
    this.#token = {
      value,
      renewAtMs: now + lifetimeSeconds * 1_000 * RENEW_AFTER,
      endsAtMs: now + lifetimeSeconds * 1_000,
    }
    return value
  }
}
