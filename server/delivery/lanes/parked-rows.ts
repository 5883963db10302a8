// What a lane knows of its parked deliveries: rows without a due time, which wait in the database until the
// lane has room. A refill reads one page of them, in order of their ids.
//
// The knowledge is always in one of these states. `Lanes` and its `LaneFeeder` alone move it, by the
// methods below.
//
// - `none`: as far as this process knows, nothing is parked. Leaves by `note`, to `parked`.
// - `parked`: rows are parked; the next refill reads those after the id `after`. Leaves by `beginRefill`, to
//   `refilling`, and by `release`, to `none`.
// - `refilling`: one refill is reading, or waits until it may. Leaves by `endRefill`, to `parked` (there are
//   more, or others were parked during the scan) or to `none`; by `failRefill`, back to `parked`; by
//   `restart`, to `restarting`; by `release`, to `released`.
// - `restarting`: as `refilling`, but what the scan has passed has left memory. Leaves when the refill ends, to
//   `parked` from the start, wherever it has read; by `release`, to `released`.
// - `released`: the shard was lost, or the endpoint was found inactive, while a refill was reading. Leaves when the
//   refill ends, to `none`; or by `note`, to `restarting`, when the shard or the endpoint came back first.
//
//     none ─note─▶ parked ─beginRefill─▶ refilling ─endRefill─▶ parked | none
//                                       refilling ─restart─▶ restarting ─endRefill─▶ parked
//                          refilling, restarting ─release─▶ released ─endRefill─▶ none
//
// `startsOver`: rows were parked after the scan had passed the start, so they may lie before `after`: the
// last page is then followed by the first.

import { NIL_UUID } from '../../core/plain/uuid.ts'

export type ParkedState =
  | { readonly is: 'none' | 'restarting' | 'released' }
  | { readonly is: 'parked' | 'refilling'; readonly after: string; readonly startsOver: boolean }

const NONE: ParkedState = { is: 'none' }
const RESTARTING: ParkedState = { is: 'restarting' }
const RELEASED: ParkedState = { is: 'released' }

export class ParkedRows {
  #state: ParkedState = NONE
  #releases = 0

  get state(): ParkedState {
    return this.#state
  }

  /** How often what was known of them was given up. */
  get releases(): number {
    return this.#releases
  }

  /** True when a lane that sends works off what was parked. */
  get areParked(): boolean {
    return this.#state.is !== 'none' && this.#state.is !== 'released'
  }

  /** Where the refill that is under way reads on. */
  get after(): string {
    const state = this.#state
    if (state.is === 'refilling') return state.after
    // One that has waited until now begins with the start.
    if (state.is === 'restarting' || state.is === 'released') return NIL_UUID
    throw new Error(`no refill is under way: ${state.is}`)
  }

  /** The database holds parked rows that a scan may have passed. */
  note(): void {
    const state = this.#state
    if (state.is === 'none') this.#state = parked(NIL_UUID, false)
    else if (state.is === 'parked') this.#state = parked(state.after, true)
    else if (state.is === 'refilling') this.#state = { ...state, startsOver: true }
    else this.#state = RESTARTING
  }

  /** What the scan has passed is no longer in memory, and not delivered. Younger rows must not go ahead of it. */
  restart(): void {
    const state = this.#state
    if (state.is === 'parked') this.#state = parked(NIL_UUID, false)
    else if (state.is === 'refilling') this.#state = RESTARTING
  }

  beginRefill(): void {
    const state = this.#state
    if (state.is !== 'parked') throw new Error(`a refill begins where rows are parked: ${state.is}`)
    this.#state = { ...state, is: 'refilling' }
  }

  /** `upTo` is the last id that was read, or null when there are no more. */
  endRefill(upTo: string | null): void {
    const state = this.#state
    if (state.is === 'refilling') {
      if (upTo !== null) this.#state = parked(upTo, state.startsOver)
      else this.#state = state.startsOver ? parked(NIL_UUID, false) : NONE
    } else if (state.is === 'restarting') this.#state = parked(NIL_UUID, false)
    else if (state.is === 'released') this.#state = NONE
    else throw new Error(`no refill is under way: ${state.is}`)
  }

  /** The refill could not read: the next one reads the same page. */
  failRefill(): void {
    this.endRefill(this.after)
  }

  /** The shard is lost, and what is parked is another process's to know; or the endpoint is not active, and what is
   *  parked stays where it is until it is resumed. */
  release(): void {
    const state = this.#state
    this.#releases++
    if (state.is === 'parked') this.#state = NONE
    else if (state.is !== 'none') this.#state = RELEASED
  }
}

/** A scan that reads from the start misses nothing, whenever it was parked. */
function parked(after: string, startsOver: boolean): ParkedState {
  return { is: 'parked', after, startsOver: startsOver && after !== NIL_UUID }
}
