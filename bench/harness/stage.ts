// Receiver and generator, the two processes that every cell is measured with. The number of arrivals
// goes from the one to the other, so that what is under way stays bounded in the same way for all.

import { fileURLToPath } from 'node:url'
import { Child } from './child.ts'
import type { Fed, Limits, Target } from './generator.ts'
import type { Arrivals, Behaviour } from './receiver.ts'

const CERTIFICATES = new URL('../../test/support/certificates/', import.meta.url)

/** A certificate for loopback, and the authority that vouches for it. */
export const TLS = {
  certificate: fileURLToPath(new URL('good.pem', CERTIFICATES)),
  key: fileURLToPath(new URL('server.key', CERTIFICATES)),
  authority: fileURLToPath(new URL('ca.pem', CERTIFICATES)),
}

export class Stage {
  readonly receiver: Child
  readonly generator: Child
  receiverUrl = ''
  #unique = 0

  /** With `core`, both share that one core and leave the others to what is measured. */
  constructor(core?: number) {
    this.generator = new Child(new URL('./generator.ts', import.meta.url), { core })
    this.receiver = new Child(new URL('./receiver.ts', import.meta.url), {
      core,
      onEvent: ({ unique }) => {
        this.#unique = unique as number
        this.generator.tell('arrived', unique)
      },
    })
  }

  static async open(core?: number): Promise<Stage> {
    const stage = new Stage(core)
    const port = await stage.receiver.call<number>('listen')
    stage.receiverUrl = `http://127.0.0.1:${port}`
    return stage
  }

  /** Another origin of the same receiver: connections are shared within an origin only. */
  async openOrigin(): Promise<string> {
    return `http://127.0.0.1:${await this.receiver.call<number>('listen')}`
  }

  async openTlsOrigin(): Promise<string> {
    const tls = { certificate: TLS.certificate, key: TLS.key }
    return `https://127.0.0.1:${await this.receiver.call<number>('listen', tls)}`
  }

  get unique(): number {
    return this.#unique
  }

  async aim(target: Target): Promise<void> {
    await this.receiver.call('forget')
    this.#unique = 0
    await this.generator.call('aim', target)
  }

  feed(limits: Limits): Promise<Fed> {
    return this.generator.call('closedLoop', limits)
  }

  feedOpen(limits: { seconds: number; perSecond: number }): Promise<Fed> {
    return this.generator.call('openLoop', limits)
  }

  repeat(request: object): Promise<{ perSecond: number; failed: number }> {
    return this.generator.call('repeat', request)
  }

  behave(paths: readonly string[], behaviour: Behaviour): Promise<void> {
    return this.receiver.call('behave', paths, behaviour)
  }

  arrivals(upTo: number): Promise<Arrivals> {
    return this.receiver.call('arrivals', upTo)
  }

  async close(): Promise<void> {
    await Promise.all([this.receiver.stop(), this.generator.stop()])
  }
}
