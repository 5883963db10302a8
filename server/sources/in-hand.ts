// What a broker has delivered to us and we have not settled, bounded in number and in bytes. How large the
// next messages are is known only when they are here, so each is reckoned as large as any may be.

/** Messages that are delivered and not yet acknowledged; the server holds to it, too. */
export const IN_HAND_MAX = 256
/** One more message may come on top. */
const IN_HAND_BYTES_MAX = 66 * 1_024 * 1_024
/** NATS has no larger ones. */
export const MESSAGE_BYTES_MAX = 64 * 1_024 * 1_024

interface Message {
  /** In the stream. */
  seq: number
  data: Uint8Array
}

export interface InHandLimits {
  messagesMax: number
  bytesMax: number
  /** The largest message that the server lets through. */
  messageBytesMax: number
}

export class InHand<M extends Message> {
  readonly #limits: InHandLimits
  readonly #messages = new Map<number, M>()
  #bytes = 0

  constructor(limits: Partial<InHandLimits> = {}) {
    this.#limits = {
      messagesMax: IN_HAND_MAX,
      bytesMax: IN_HAND_BYTES_MAX,
      messageBytesMax: MESSAGE_BYTES_MAX,
      ...limits,
    }
  }

  get size(): number {
    return this.#messages.size
  }

  /** How many may be asked for. While any byte is free, one: a server for large messages sends small ones
   *  too, and they must not wait for each other. */
  room(): number {
    const { messagesMax, bytesMax, messageBytesMax } = this.#limits
    const bytes = bytesMax - this.#bytes
    if (bytes <= 0) return 0
    const fitting = Math.max(1, Math.floor(bytes / messageBytesMax))
    return Math.max(0, Math.min(messagesMax - this.#messages.size, fitting))
  }

  /** False for one that is in hand already: its ack wait had run out on the way. */
  hold(message: M): boolean {
    const isKnown = this.#messages.has(message.seq)
    if (!isKnown) this.#bytes += message.data.length
    // The latest copy is the one that can be acknowledged.
    this.#messages.set(message.seq, message)
    return !isKnown
  }

  settle(sequence: number): void {
    this.#bytes -= this.#messages.get(sequence)?.data.length ?? 0
    this.#messages.delete(sequence)
  }

  /** As they stand in the stream. */
  inOrder(): M[] {
    return [...this.#messages.values()].toSorted((one, other) => one.seq - other.seq)
  }

  values(): Iterable<M> {
    return this.#messages.values()
  }

  clear(): void {
    this.#messages.clear()
    this.#bytes = 0
  }
}
