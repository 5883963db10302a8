// The NATS source of a service that has one. It and its packages are loaded when it starts: few services have a broker,
// and these packages are a twentieth of what a start computes.

import type { NatsSource } from './nats-source.ts'
import type { NatsSourceOptions } from './nats-source-options.ts'

export class LazyNatsSource {
  readonly #options: NatsSourceOptions
  #source: NatsSource | null = null

  constructor(options: NatsSourceOptions) {
    this.#options = options
  }

  get isConsuming(): boolean {
    return this.#source?.isConsuming ?? false
  }

  async start(): Promise<void> {
    const { NatsSource } = await import('./nats-source.ts')
    this.#source = new NatsSource(this.#options)
    this.#source.start()
  }

  /** Is not called while it starts. */
  async stop(): Promise<void> {
    await this.#source?.stop()
  }
}
