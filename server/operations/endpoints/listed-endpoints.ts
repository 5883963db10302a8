// The list of endpoints, of all clients or of one, in every order and by every filter: one set of rules for the operator and
// for clients. More than a hundred thousand that match are counted now and then, not for each page; and a page far behind the
// first begins at a mark.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { OwnedEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import {
  countAllEndpoints,
  type EndpointFilter,
  type EndpointMark,
  listAllEndpoints,
  readEndpointMarks,
} from '../../store/endpoints/endpoint-pages.ts'
import type { Deps } from '../shared/deps.ts'
import { COUNTED_EACH_TIME_MAX, KeptCounts } from '../shared/kept-counts.ts'

export type { EndpointFilter }

/** To pass over so many takes a few milliseconds. */
const MARKED_EACH = 20_000

/** How many are counted with each page, and how far one mark is from the next. */
export type ListLimits = [countedEachTimeMax?: number, markedEach?: number]

export class ListedEndpoints {
  readonly #deps: Deps
  readonly #markedEach: number
  readonly #totals: KeptCounts<number>
  readonly #marks: KeptCounts<readonly EndpointMark[]>

  constructor(deps: Deps, ...limits: ListLimits) {
    const [countedEachTimeMax = COUNTED_EACH_TIME_MAX, markedEach = MARKED_EACH] = limits
    this.#deps = deps
    this.#markedEach = markedEach
    this.#totals = new KeptCounts(deps, (total) => total > countedEachTimeMax)
    this.#marks = new KeptCounts(deps)
  }

  async view(filter: EndpointFilter, request: PageRequest): Promise<Page<OwnedEndpoint>> {
    const { pool } = this.#deps
    const { order: _, ...matched } = filter
    const list = JSON.stringify(matched)
    const total = this.#totals.look(list, () => countAllEndpoints(pool, filter))
    const counted = total === null ? null : { total, mark: await this.#markBefore(filter, request) }
    const page = await listAllEndpoints(pool, filter, request, counted)
    if (total === null) this.#totals.put(list, page.total)
    return page
  }

  /**
   * Only of all endpoints in the order in which they were registered: new ones come behind every mark, so that a reader of
   * page after page misses none. An endpoint that is resumed comes into a filtered list anywhere.
   */
  async #markBefore(
    { order, ...conditions }: EndpointFilter,
    request: PageRequest,
  ): Promise<EndpointMark | null> {
    const offset = pageOffset(request)
    if (order !== 'createdAt' || Object.values(conditions).some((value) => value !== null))
      return null
    if (offset < this.#markedEach) return null
    const marks = await this.#marks.get('all', () =>
      readEndpointMarks(this.#deps.pool, this.#markedEach),
    )
    return marks.findLast(({ rank }) => rank <= offset) ?? null
  }
}
