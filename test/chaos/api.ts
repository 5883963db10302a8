// Calls to the service through whichever process is there, repeated until one of them has answered: what
// a careful caller does.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from '../simulator/dice.ts'
import type { Service } from './services.ts'

export interface Credentials {
  operatorKey: string
  clientId: string
  clientSecret: string
  accountId: string
}

export interface Answered {
  status: number
  text: string
  /** How often it was asked, this time included. */
  tries: number
}

const CALL_MS_MAX = 4_000
/** 503: not now. 408: a process that was frozen finds a connection that has been silent for too long, and looks at the
 *  time before it looks at what has come over it meanwhile. */
const PASSING = new Set([408, 503])
/** Longer each time: a hundred callers who ask as fast as they can take the machine from those whom they wait for. */
const AGAIN_MS = 30
const AGAIN_MS_MAX = 500

export class Api {
  readonly #services: readonly Service[]
  readonly #dice: Dice
  #credentials: Credentials | null = null
  #token: string | null = null
  isGivenUp = false
  /** Answers that a careful caller can do nothing about. */
  readonly oddAnswers: string[] = []
  /** Refused for now, and connections that failed. */
  refusals = 0

  constructor(services: readonly Service[], dice: Dice) {
    this.#services = services
    this.#dice = dice
  }

  get accountId(): string {
    return this.#credentials?.accountId ?? ''
  }

  async makeClient(operatorKey: string): Promise<void> {
    const headers = { authorization: `Bearer ${operatorKey}` }
    const made = await this.call('POST', '/operator/v1/clients', { name: 'Chaos' }, headers)
    const { clientId, clientSecret } = JSON.parse(made.text) as Credentials
    const path = `/operator/v1/clients/${clientId}/accounts`
    const account = await this.call('POST', path, { name: 'Main' }, headers)
    const { id: accountId } = JSON.parse(account.text) as { id: string }
    this.#credentials = { operatorKey, clientId, clientSecret, accountId }
    const answer = await this.call('POST', '/auth/token', { clientId, clientSecret })
    this.#token = (JSON.parse(answer.text) as { access_token: string }).access_token
  }

  asClient(method: string, path: string, body?: object, accepts?: readonly number[]) {
    const headers = { authorization: `Bearer ${this.#token}`, accountid: this.accountId }
    return this.call(method, path, body, headers, accepts)
  }

  asOperator(method: string, path: string, body: object | string): Promise<Answered> {
    const authorization = `Bearer ${this.#credentials?.operatorKey}`
    const headers = { authorization, accountid: this.accountId }
    return this.call(method, path, body, headers)
  }

  /** Asks any process, again and again, until the answer is 2xx or one of those accepted. */
  async call(
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
    accepts: readonly number[] = [],
  ): Promise<Answered> {
    const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
    for (let tries = 1; ; tries++) {
      if (this.isGivenUp) throw new Error(`${method} ${path}: given up after ${tries} tries`)
      const answer = await this.#ask(path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      if (answer !== null) {
        const { status, text } = answer
        if ((status >= 200 && status < 300) || accepts.includes(status)) {
          return { status, text, tries }
        }
        if (!PASSING.has(status)) this.oddAnswers.push(`${method} ${path}: ${status} ${text}`)
      }
      this.refusals++
      await sleep(Math.min(AGAIN_MS * tries, AGAIN_MS_MAX))
    }
  }

  async #ask(path: string, init: RequestInit): Promise<{ status: number; text: string } | null> {
    const ready = this.#services.filter((service) => service.isReady)
    if (ready.length === 0) return null
    const { baseUrl } = this.#dice.pick(ready)
    try {
      const signal = AbortSignal.timeout(CALL_MS_MAX)
      const response = await fetch(`${baseUrl}${path}`, { ...init, signal })
      return { status: response.status, text: await response.text() }
    } catch {
      return null
    }
  }
}
