// Messages that a broker has delivered and we have not settled, bounded in number and in bytes. The size of the
// next messages is known only when they arrive, so each is counted with the largest possible size.

/** Messages delivered and not yet acknowledged; the server enforces this limit, too. */
export const IN_HAND_MAX = 256
/** One more message may exceed it. */
export const IN_HAND_BYTES_MAX = 66 * 1_024 * 1_024
/** NATS has no larger ones. */
export const MESSAGE_BYTES_MAX = 64 * 1_024 * 1_024

interface Message {
  /** The message's sequence in the stream. */
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
  /** Settled since the latest pull began; at most what was in hand then and what it brought. */
  readonly #settled = new Set<number>()
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

  countUpTo(sequence: number): number {
    return this.#messages.keys().reduce((count, seq) => count + (seq <= sequence ? 1 : 0), 0)
  }

  /** How many messages may be asked for. At least one while any byte is free: a server for large messages
   *  sends small ones too, and those must not wait for each other. */
  room(): number {
    const { messagesMax, bytesMax, messageBytesMax } = this.#limits
    const bytes = bytesMax - this.#bytes
    if (bytes <= 0) return 0
    const fitting = Math.max(1, Math.floor(bytes / messageBytesMax))
    return Math.max(0, Math.min(messagesMax - this.#messages.size, fitting))
  }

  /**
   * A pull brings nothing that was settled before it began. So only what is settled while it runs has to be
   * remembered: copies that the server sent before it had the ack may still wait to be read.
   */
  beginPull(): void {
    this.#settled.clear()
  }

  /** False for a message that is in hand already, or settled: its ack wait ended, and this is a second copy. */
  hold(message: M): boolean {
    if (this.#settled.has(message.seq)) return false
    const isHeld = this.#messages.has(message.seq)
    if (!isHeld) this.#bytes += message.data.length
    // Only the latest copy can be acknowledged.
    this.#messages.set(message.seq, message)
    return !isHeld
  }

  settle(sequence: number): void {
    this.#bytes -= this.#messages.get(sequence)?.data.length ?? 0
    this.#messages.delete(sequence)
    this.#settled.add(sequence)
  }

  /** In stream order. */
  inOrder(): M[] {
    return [...this.#messages.values()].toSorted((one, other) => one.seq - other.seq)
  }

  values(): Iterable<M> {
    return this.#messages.values()
  }

  clear(): void {
    this.#messages.clear()
    this.#settled.clear()
    this.#bytes = 0
  }
}
