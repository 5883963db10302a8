// The sources of a service, one for each broker that is set. A source and its packages are loaded when it starts: few
// services have a broker, and these packages are a twentieth of what a start computes.

import type { Config } from '../config/config.ts'
import type { Broker, SourceOptions } from './broker/broker.ts'
import type { BrokerSource } from './broker/broker-source.ts'
import type { KafkaSourceTiming } from './kafka/kafka-source.ts'
import type { NatsRight, NatsTiming } from './nats/nats-session.ts'

type Outcome = Parameters<NonNullable<SourceOptions['onRecord']>>[0]

export interface SourceParts extends Pick<SourceOptions, 'gatherer' | 'log'> {
  config: Pick<Config, 'nats' | 'kafka'>
  takeNatsLease(onLost: () => void): Promise<NatsRight | null>
  figures: {
    countRecord(broker: Broker['name'], outcome: Outcome): void
    countBrokerFailure(broker: Broker['name']): void
  }
  takeSources(sources: readonly string[]): Promise<string>
  cautiousMs(): number
  timing: { nats?: Partial<NatsTiming>; kafka?: Partial<KafkaSourceTiming> }
}

export function configuredSources(parts: SourceParts): Sources {
  const { config, gatherer, log, figures, timing } = parts
  const optionsOf = (broker: Broker['name']): SourceOptions => ({
    gatherer,
    log,
    onRecord: (outcome) => figures.countRecord(broker, outcome),
    onBrokerFailure: () => figures.countBrokerFailure(broker),
  })
  const { nats, kafka } = config
  const sources: LazySource[] = []
  if (nats !== null) {
    const options = {
      ...optionsOf('nats'),
      settings: nats,
      takeLease: parts.takeNatsLease,
      timing: timing.nats ?? {},
    }
    sources.push(
      new LazySource('nats', async () => {
        const { createNatsSource } = await import('./nats/nats-source.ts')
        return createNatsSource(options)
      }),
    )
  }
  if (kafka !== null) {
    const options = {
      ...optionsOf('kafka'),
      settings: kafka,
      takeLeases: parts.takeSources,
      cautiousMs: parts.cautiousMs,
      timing: timing.kafka ?? {},
    }
    sources.push(
      new LazySource('kafka', async () => {
        const { createKafkaSource } = await import('./kafka/kafka-source.ts')
        return createKafkaSource(options)
      }),
    )
  }
  return new Sources(sources)
}

class Sources {
  readonly list: readonly LazySource[]

  constructor(list: readonly LazySource[]) {
    this.list = list
  }

  async start(): Promise<void> {
    await Promise.all(this.list.map((source) => source.start()))
  }

  /** Is not called while they start. */
  async stop(): Promise<void> {
    await Promise.all(this.list.map((source) => source.stop()))
  }
}

class LazySource {
  readonly broker: Broker['name']
  readonly #make: () => Promise<BrokerSource>
  #source: BrokerSource | null = null

  constructor(broker: Broker['name'], make: () => Promise<BrokerSource>) {
    this.broker = broker
    this.#make = make
  }

  get isConsuming(): boolean {
    return this.#source?.isConsuming ?? false
  }

  get lag(): number {
    return this.#source?.lag ?? 0
  }

  async start(): Promise<void> {
    this.#source = await this.#make()
    this.#source.start()
  }

  async stop(): Promise<void> {
    await this.#source?.stop()
  }
}
