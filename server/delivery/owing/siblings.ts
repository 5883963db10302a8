// Processes of one machine hand what they have accepted straight to its owner among them (decision 0105). An owner invites
// the others, again and again: from then on it notices what moves. A transaction that begins after an invitation has
// arrived may be handed over under it: for the owner that is a hand-off whose answer took a little longer. Whatever does
// not fit, comes too late or is lost is in the database all the same, and is found there.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import type { SiblingChannel, SiblingEnd } from '../seams/sibling-channel.ts'
import { type HandOffParts, type HandOffSince, takeHandedOff } from './hand-off.ts'
import {
  isFresh,
  readSiblingMessage,
  type SiblingMessage,
  writeHandOver,
  writeInvitation,
} from './sibling-messages.ts'

/** Invitations that still hold for the one who has sent them. */
const TICKETS_MAX = 4
/** An invitation is no longer followed after so many polls without another: its sender may be frozen, or have lost all. */
const FOLLOWED_POLLS = 3

/** A message is sent when its texts have so many characters: the channel has a bound, and looks at it before each. */
const BATCH_LENGTH_MAX = 128 * 1024

interface Batch {
  deliveries: HandedOff[]
  length: number
}

interface Ticket extends HandOffSince {
  number: number
}

interface Sibling {
  channel: SiblingChannel
  /** Shards of which it was given something. */
  handed: Set<number>
}

/** Whom a shard's deliveries may be given to, and under which ticket. */
interface Invited {
  sibling: Sibling
  ticket: number
  untilMs: number
}

/** By shard, as it was at a moment; never changed. */
export type Invitations = ReadonlyMap<number, Invited>

type SiblingsEnvironment = Pick<EngineEnvironment, 'clock' | 'wakeUps' | 'log'>

export class Siblings {
  readonly #environment: SiblingsEnvironment
  readonly #parts: HandOffParts
  readonly #pollEveryMs: number
  /** The due reader has to look, or lanes may have something to send. */
  readonly #onTaken: (hasToRead: boolean) => void
  readonly #siblings = new Set<Sibling>()
  /** The oldest first. */
  readonly #tickets: Ticket[] = []
  #lastTicket = 0
  #invitations: Invitations = new Map()
  #isClosed = false

  constructor(
    environment: SiblingsEnvironment,
    parts: HandOffParts,
    pollEveryMs: number,
    onTaken: (hasToRead: boolean) => void,
  ) {
    this.#environment = environment
    this.#parts = parts
    this.#pollEveryMs = pollEveryMs
    this.#onTaken = onTaken
  }

  /** To be kept when a transaction begins: what comes later is no invitation for it. */
  get invitations(): Invitations {
    return this.#invitations
  }

  join(channel: SiblingChannel): SiblingEnd {
    const sibling: Sibling = { channel, handed: new Set() }
    if (this.#isClosed) channel.close()
    else this.#siblings.add(sibling)
    this.invite()
    return {
      receive: (text) => this.#receive(sibling, text),
      closed: () => this.#forget(sibling),
    }
  }

  /** Again as often as it polls, but not after the poll, which may wait; and when shards come or go. */
  invite(): void {
    const kept = this.#siblings.size > 0 ? TICKETS_MAX - 1 : 0
    while (this.#tickets.length > kept) this.#tickets.shift()?.watch.end()
    if (this.#siblings.size === 0) return
    const { lanes, shards } = this.#parts
    const beganAtMs = this.#environment.clock.monotonicMs()
    const number = ++this.#lastTicket
    this.#tickets.push({ number, beganAtMs, watch: lanes.watches.begin() })
    const sending = shards.held.filter((shard) => shards.maySend(shard))
    const text = writeInvitation({ ticket: number, shards: sending })
    for (const { channel } of this.#siblings) channel.send(text)
  }

  /** Hands committed deliveries of other processes' shards to those who had invited them before; announces the others. */
  handOver(invitations: Invitations, deliveries: readonly HandedOff[]): void {
    const batches = new Map<Invited, Batch>()
    for (const delivery of deliveries) {
      const invited = isFresh(delivery) ? this.#follow(invitations.get(delivery.shard)) : null
      if (invited === null) {
        this.#environment.wakeUps?.announceWork(delivery.shard)
        continue
      }
      const batch = batches.get(invited) ?? { deliveries: [], length: 0 }
      batch.deliveries.push(delivery)
      batch.length += delivery.payload?.text.length ?? 0
      if (batch.length < BATCH_LENGTH_MAX) batches.set(invited, batch)
      else {
        batches.delete(invited)
        this.#send(invited, batch)
      }
    }
    for (const [invited, batch] of batches) this.#send(invited, batch)
    // Whoever accepted them keeps them a little longer: their texts have no bound there.
    for (const delivery of deliveries) delivery.payload = null
  }

  /** Nothing more is taken. */
  close(): void {
    this.#isClosed = true
    for (const sibling of [...this.#siblings]) {
      sibling.channel.close()
      this.#forget(sibling)
    }
    this.invite()
  }

  #send({ sibling, ticket }: Invited, { deliveries }: Batch): void {
    const isSent = sibling.channel.send(writeHandOver({ ticket, deliveries }))
    for (const { shard } of deliveries) {
      if (isSent) sibling.handed.add(shard)
      else this.#environment.wakeUps?.announceWork(shard)
    }
  }

  #follow(invited: Invited | undefined): Invited | null {
    if (invited === undefined || !this.#siblings.has(invited.sibling)) return null
    return this.#environment.clock.monotonicMs() < invited.untilMs ? invited : null
  }

  #receive(sibling: Sibling, text: string): void {
    if (!this.#siblings.has(sibling)) return
    let message: SiblingMessage | null
    try {
      message = readSiblingMessage(text)
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'sibling.not-understood')
      sibling.channel.close()
      this.#forget(sibling)
      return
    }
    if (message === null) return
    if ('invitation' in message) this.#follows(sibling, message.invitation)
    else this.#take(message.handOver.ticket, message.handOver.deliveries)
  }

  #follows(
    sibling: Sibling,
    { ticket, shards }: { ticket: number; shards: readonly number[] },
  ): void {
    const untilMs = this.#environment.clock.monotonicMs() + FOLLOWED_POLLS * this.#pollEveryMs
    const invitations = this.#withoutThoseOf(sibling)
    // One for all: what goes to it under one ticket goes together.
    const invited: Invited = { sibling, ticket, untilMs }
    for (const shard of shards) invitations.set(shard, invited)
    this.#invitations = invitations
  }

  #take(number: number, deliveries: readonly HandedOff[]): void {
    const { shards } = this.#parts
    const { wakeUps } = this.#environment
    const ticket = this.#tickets.find((one) => one.number === number) ?? null
    const hasToRead = takeHandedOff(this.#environment, this.#parts, ticket, deliveries, () => {})
    // Of what we may not send now another may be the owner, and knows nothing of it yet.
    for (const shard of new Set(deliveries.map((delivery) => delivery.shard))) {
      if (!shards.maySend(shard)) wakeUps?.announceWork(shard)
    }
    this.#onTaken(hasToRead)
  }

  /** What was on its way when it closed may have been read by no one: whoever owns the shards has to look. */
  #forget(sibling: Sibling): void {
    if (!this.#siblings.delete(sibling)) return
    this.#invitations = this.#withoutThoseOf(sibling)
    for (const shard of sibling.handed) this.#environment.wakeUps?.announceWork(shard)
  }

  #withoutThoseOf(sibling: Sibling): Map<number, Invited> {
    return new Map([...this.#invitations].filter(([, invited]) => invited.sibling !== sibling))
  }
}
