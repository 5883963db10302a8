// The channels between processes of one machine (`paybell serve --processes`), in half of the worlds: in order, bounded,
// closed when a process dies. What is on its way to it is then lost; what it has sent still arrives.

import type { Engine } from '../../server/delivery/engine.ts'
import type { SiblingChannel, SiblingEnd } from '../../server/delivery/seams/sibling-channel.ts'
import type { Counters } from './counters.ts'
import { Dice } from './dice.ts'
import type { Door } from './node-world.ts'

const CLOSED = Symbol('closed')

interface Member {
  engine: Engine
  door: Door
  ways: Set<Way>
}

/** To one side of a channel. */
class Way {
  readonly #door: Door
  readonly #dice: Dice
  readonly #queue: (string | typeof CLOSED)[] = []
  #end: SiblingEnd | null = null
  #isClosed = false

  constructor(door: Door, dice: Dice) {
    this.#door = door
    this.#dice = dice
  }

  leadsTo(end: SiblingEnd): void {
    this.#end = end
  }

  push(text: string | typeof CLOSED): void {
    if (this.#isClosed) return
    this.#isClosed = text === CLOSED
    this.#queue.push(text)
    // One that was asleep finds all of it, in order.
    this.#door(this.#dice.skewed(0.05, 50), 'sibling', () => this.#arrive())
  }

  #arrive(): void {
    const text = this.#queue.shift()
    if (text === CLOSED) this.#end?.closed()
    else if (text !== undefined) this.#end?.receive(text)
  }
}

export class SiblingChannels {
  readonly #dice: Dice
  readonly #counters: Counters
  readonly #areSiblings: boolean
  readonly #members = new Map<string, Member>()

  constructor(seed: number, counters: Counters) {
    this.#dice = new Dice(seed, 11)
    this.#counters = counters
    this.#areSiblings = this.#dice.chance(0.5)
  }

  join(name: string, engine: Engine, door: Door): void {
    if (!this.#areSiblings) return
    const member: Member = { engine, door, ways: new Set() }
    for (const other of this.#members.values()) this.#connect(member, other)
    this.#members.set(name, member)
  }

  /** It is dead. */
  leave(name: string): void {
    const ways = this.#members.get(name)?.ways ?? []
    this.#members.delete(name)
    for (const way of ways) way.push(CLOSED)
  }

  #connect(one: Member, other: Member): void {
    const toOne = new Way(one.door, this.#dice)
    const toOther = new Way(other.door, this.#dice)
    one.ways.add(toOther)
    other.ways.add(toOne)
    toOne.leadsTo(one.engine.joinSibling(this.#channelThrough(toOther)))
    toOther.leadsTo(other.engine.joinSibling(this.#channelThrough(toOne)))
  }

  #channelThrough(way: Way): SiblingChannel {
    return {
      send: (text) => {
        const hasRoom = !this.#dice.chance(0.05)
        if (text.includes('"deliveries"')) {
          this.#counters.count(hasRoom ? 'handed to a sibling' : 'no room for a sibling')
        }
        if (hasRoom) way.push(text)
        return hasRoom
      },
      close: () => way.push(CLOSED),
    }
  }
}
