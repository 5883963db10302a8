// One coarse clock tick for every deadline of the sender, instead of a timer or an AbortSignal each.
// Adding and removing are a few pointer writes; an entry fires at most one tick late, never early.

const SLOTS = 512

/** Something with a deadline. The links belong to the wheel. */
export abstract class WheelEntry {
  dueAtMs = 0
  previous: WheelEntry | null = null
  next: WheelEntry | null = null

  abstract onDue(): void
}

class SlotHead extends WheelEntry {
  override previous: WheelEntry = this
  override next: WheelEntry = this

  override onDue(): void {}
}

export class TimerWheel {
  readonly #monotonicMs: () => number
  readonly #tickMs: number
  readonly #slots: SlotHead[] = Array.from({ length: SLOTS }, () => new SlotHead())
  #count = 0
  #timer: NodeJS.Timeout | null = null
  #lastTick = 0

  constructor(monotonicMs: () => number, tickMs: number) {
    this.#monotonicMs = monotonicMs
    this.#tickMs = tickMs
  }

  /** How many entries wait. */
  get count(): number {
    return this.#count
  }

  /** Puts the entry in, or moves it if it is in already. */
  set(entry: WheelEntry, dueAtMs: number): void {
    if (this.#timer === null) this.#start()
    if (entry.next === null) this.#count += 1
    else unlink(entry)
    entry.dueAtMs = dueAtMs
    // A moment already past goes into the next tick's slot: this tick's may have been visited.
    const tick = Math.max(Math.ceil(dueAtMs / this.#tickMs), this.#lastTick + 1)
    const head = this.#slots[tick % SLOTS] as SlotHead
    entry.previous = head.previous
    entry.next = head
    head.previous.next = entry
    head.previous = entry
  }

  /** Takes the entry out; harmless when it is not in. */
  clear(entry: WheelEntry): void {
    if (entry.next === null) return
    unlink(entry)
    this.#count -= 1
  }

  /** Ends the tick. The next entry starts it again. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #start(): void {
    this.#lastTick = Math.floor(this.#monotonicMs() / this.#tickMs)
    this.#timer = setInterval(() => this.#advance(), this.#tickMs)
  }

  #advance(): void {
    if (this.#count === 0) {
      // The timer stops only now, so that a busy sender does not start and stop it all the time.
      this.stop()
      return
    }
    const nowMs = this.#monotonicMs()
    const nowTick = Math.floor(nowMs / this.#tickMs)
    // After a stall of more than a turn every slot is visited once, and no more.
    const first = Math.max(this.#lastTick + 1, nowTick - SLOTS + 1)
    this.#lastTick = nowTick
    for (let tick = first; tick <= nowTick; tick += 1) {
      this.#fire(this.#slots[tick % SLOTS] as SlotHead, nowMs)
    }
  }

  #fire(head: SlotHead, nowMs: number): void {
    // Entries due in a later turn of the wheel share the slot. What fires may set and clear others,
    // so the walk begins again after each.
    let entry: WheelEntry = head.next
    while (entry !== head) {
      if (entry.dueAtMs <= nowMs) {
        this.clear(entry)
        entry.onDue()
        entry = head.next
      } else entry = entry.next as WheelEntry
    }
  }
}

function unlink(entry: WheelEntry): void {
  const { previous, next } = entry as { previous: WheelEntry; next: WheelEntry }
  previous.next = next
  next.previous = previous
  entry.previous = null
  entry.next = null
}
