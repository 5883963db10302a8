// The endpoints of a run, and what their owner does to them while it goes on: pauses, resumes, rotates
// keys, deletes and registers again. Every act is noted with when it was asked for and acknowledged.

import type { Dice } from '../simulator/dice.ts'
import type { EndpointAct } from '../simulator/records.ts'
import type { Api } from './api.ts'
import { keyOf } from './personalities.ts'

export interface KnownEndpoint {
  path: string
  id: string
  acts: EndpointAct[]
  keys: number
  isPaused: boolean
  isDeleted: boolean
}

const PATHS = [
  ...['/steady/1', '/steady/2', '/steady/3', '/slow/1', '/flaky/1', '/flaky/2', '/late/1'],
  ...['/stubborn/1', '/busy/1', '/tidal/1', '/dead/1', '/telling/1', '/telling/2'],
]
/** Those that are paused and resumed, and those that are deleted. */
const PAUSED = ['/steady/paused', '/flaky/paused']
const DOOMED = ['/steady/doomed-1', '/slow/doomed-1']

export class Endpoints {
  readonly all: KnownEndpoint[] = []
  readonly counts = new Map<string, number>()
  readonly #api: Api
  readonly #dice: Dice
  readonly #port: number

  constructor(api: Api, dice: Dice, receiversPort: number) {
    this.#api = api
    this.#dice = dice
    this.#port = receiversPort
  }

  async registerAll(): Promise<void> {
    for (const path of [...PATHS, ...PAUSED, ...DOOMED]) await this.#register(path)
  }

  /** One act of an owner, whichever comes up. */
  async act(): Promise<void> {
    const alive = this.all.filter((endpoint) => !endpoint.isDeleted)
    const dice = this.#dice
    const drawn = dice.next()
    if (drawn < 0.45) {
      const among = alive.filter(({ path }) => PAUSED.includes(path))
      const endpoint = dice.pick(among)
      await this.#setPaused(endpoint, !endpoint.isPaused)
    } else if (drawn < 0.8) {
      await this.#rotate(dice.pick(alive))
    } else {
      const doomed = dice.pick(alive.filter(({ path }) => path.includes('doomed')))
      await this.#delete(doomed)
      await this.#register(doomed.path.replace(/\d+$/, (n) => String(Number(n) + 1)))
    }
  }

  /** A call to pause that was repeated may have been carried out after the resumption. */
  async resumeAll(): Promise<void> {
    const listed = await this.#list()
    const paused = new Set(listed.filter(({ status }) => status === 'PAUSED').map(({ id }) => id))
    for (const endpoint of this.all) {
      if (paused.has(endpoint.id)) await this.#setPaused(endpoint, false)
    }
  }

  async #list(): Promise<{ id: string; endpointUrl: string; status: string }[]> {
    const { text } = await this.#api.asClient('GET', '/v1/webhooks/list?size=100')
    return JSON.parse(text).content
  }

  async #register(path: string): Promise<void> {
    const askedAtMs = Date.now()
    const callbackUrl = this.#urlOf(path)
    const body = { callbackUrl, sharedKey: keyOf(path, 0) }
    await this.#api.asClient('POST', '/v1/webhooks/register', body)
    const acknowledgedAtMs = Date.now()
    const id = (await this.#list()).find((item) => item.endpointUrl === callbackUrl)?.id
    if (id === undefined) throw new Error(`registered, but not listed: ${path}`)
    const common = { askedAtMs, acknowledgedAtMs, node: 'any' }
    this.all.push({
      path,
      id,
      keys: 1,
      isPaused: false,
      isDeleted: false,
      acts: [
        // The first key may sign as soon as it was asked for; what is accepted a moment after the
        // answer is owed (the clocks of the processes may differ by about a second).
        { ...common, kind: 'rotate', appliedAtMs: askedAtMs, keyName: `${path} 0` },
        { ...common, kind: 'register', appliedAtMs: acknowledgedAtMs + 1_500, keyName: null },
      ],
    })
  }

  async #setPaused(endpoint: KnownEndpoint, isPaused: boolean): Promise<void> {
    const status = isPaused ? 'PAUSED' : 'ACTIVE'
    await this.#noted(endpoint, isPaused ? 'pause' : 'resume', () =>
      this.#api.asClient('PATCH', `/v1/webhooks/${endpoint.id}`, { status }),
    )
    endpoint.isPaused = isPaused
  }

  async #rotate(endpoint: KnownEndpoint): Promise<void> {
    const n = endpoint.keys++
    const body = { callbackUrl: this.#urlOf(endpoint.path), sharedKey: keyOf(endpoint.path, n) }
    await this.#noted(
      endpoint,
      'rotate',
      () => this.#api.asClient('POST', '/v1/webhooks/register', body),
      `${endpoint.path} ${n}`,
    )
  }

  async #delete(endpoint: KnownEndpoint): Promise<void> {
    endpoint.isDeleted = true
    await this.#noted(endpoint, 'delete', () =>
      // A repeated deletion finds nothing any more: the first one was done, its answer lost.
      this.#api.asClient('DELETE', `/v1/webhooks/${endpoint.id}`, undefined, [404]),
    )
  }

  async #noted(
    endpoint: KnownEndpoint,
    kind: EndpointAct['kind'],
    work: () => Promise<unknown>,
    keyName: string | null = null,
  ): Promise<void> {
    const askedAtMs = Date.now()
    const act: EndpointAct = {
      kind,
      askedAtMs,
      appliedAtMs: askedAtMs,
      acknowledgedAtMs: null,
      node: 'any',
      keyName,
    }
    endpoint.acts.push(act)
    await work()
    act.acknowledgedAtMs = Date.now()
    // A key may sign as soon as it was asked for; a pause holds when it is acknowledged.
    if (kind !== 'rotate') act.appliedAtMs = act.acknowledgedAtMs
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  #urlOf(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`
  }
}
