// What someone keeps of a list: filters with a name, and columns left out. What is stored may have been written by
// anyone: only what has the shape, and is not too long, is read (0103).

export interface SavedFilter {
  name: string
  /** Of the list's address: `?state=PENDING`. */
  query: string
}

export interface Kept {
  saved: readonly SavedFilter[]
  hidden: readonly string[]
}

export const SAVED_MAX = 12
export const NAME_CHARACTERS_MAX = 40
const QUERY_CHARACTERS_MAX = 1_000

export function parseKept(text: string | null): Kept {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? 'null')
  } catch {
    stored = null
  }
  const { saved, hidden } = Object(stored) as Record<string, unknown>
  return {
    saved: toArray(saved).filter(isSavedFilter).slice(0, SAVED_MAX),
    hidden: toArray(hidden).filter(isName).slice(0, SAVED_MAX),
  }
}

/** One of the same name, or of the same filter, is replaced. What is too long, or one too many, is not kept. */
export function withSaved(kept: Kept, added: SavedFilter): Kept {
  const others = withoutSaved(kept, added).saved.filter(({ query }) => query !== added.query)
  if (!isSavedFilter(added) || others.length >= SAVED_MAX) return kept
  return { ...kept, saved: [...others, added] }
}

export function withoutSaved(kept: Kept, { name }: Pick<SavedFilter, 'name'>): Kept {
  return { ...kept, saved: kept.saved.filter((one) => one.name !== name) }
}

export function withColumn(kept: Kept, head: string, isShown: boolean): Kept {
  const others = kept.hidden.filter((one) => one !== head)
  return { ...kept, hidden: isShown ? others : [...others, head] }
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARACTERS_MAX
}

/** A query and nothing else: a saved filter leads to no other page. */
function isSavedFilter(value: unknown): value is SavedFilter {
  const { name, query } = Object(value) as Record<string, unknown>
  return (
    isName(name) &&
    typeof query === 'string' &&
    query.startsWith('?') &&
    query.length <= QUERY_CHARACTERS_MAX
  )
}
