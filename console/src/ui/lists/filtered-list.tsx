// A list, the newest first: filters that live in the address, a table, a button for more.

import type { ComponentProps, ReactNode } from 'react'
import { useCursorList } from '../../api/hooks.ts'
import { toQuery, useFilters } from '../../router.ts'
import { Button } from '../basics/button.tsx'
import { Loading, Problem } from '../basics/messages.tsx'
import { Panel } from '../basics/page.tsx'
import { Field, Select } from '../forms/field.tsx'
import { toInputValue, toInstant } from '../times/instant.ts'
import { useZone } from '../times/zone.ts'
import { ChooseColumns } from './choose-columns.tsx'
import { useFolded } from './filter-toggle.tsx'
import { SavedFilters } from './saved-filters.tsx'
import { type Column, More, Table } from './table.tsx'
import { useKept } from './use-kept.ts'

export interface FilteredListProps<T> {
  /** Of the filters, and of the table. */
  label: string
  /** What its rows are: "payments". */
  rows: string
  path: string
  /** The page that it is all of: what is kept of the list is kept under it. */
  page?: string
  everyMs: number
  /** What may stand in the address; `from` and `to` are among them. */
  filters: readonly string[]
  /** Sent with every question, whatever the address says. */
  always?: Readonly<Record<string, string>>
  /** The controls of its own filters. */
  controls: ReactNode
  /** What the instant of `from` is about. */
  fromLabel: string
  /** Return was pressed in a field that is typed into. */
  onSubmit?(form: FormData): void
  /** Beside the heading, after how it is sorted. */
  aside?: ReactNode
  columns: readonly Column<T>[]
  empty(isFiltered: boolean): ReactNode
}

export function FilteredList<T extends { id: string }>(props: FilteredListProps<T>) {
  const { label, rows, path, page, everyMs, filters, always, aside, columns, empty } = props
  const { query } = useFilters()
  const given = Object.fromEntries(filters.map((name) => [name, query.get(name)]))
  const list = useCursorList<T>(path + toQuery({ ...given, ...always }), { everyMs })
  const isFiltered = filters.some((name) => query.has(name))
  const [{ hidden }] = useKept(page ?? '')
  const heads = columns.slice(1).map(({ head }) => head)
  return (
    <>
      <Filters {...props} isFiltered={isFiltered} />
      {page ? <SavedFilters path={page} query={toQuery(given)} /> : null}
      <Panel
        title={isFiltered ? `Matching ${rows}` : `All ${rows}`}
        isFlush
        aside={
          <>
            <span className="muted">newest first</span>
            {aside}
            {page ? <ChooseColumns path={page} heads={heads} /> : null}
          </>
        }
      >
        {list.error ? <Problem problem={list.error} /> : null}
        {list.isLoading ? <Loading rows={12} /> : null}
        {list.items.length > 0 ? (
          <Table
            label={label}
            columns={columns.filter(({ head }) => !hidden.includes(head))}
            rows={list.items}
            keyOf={({ id }) => id}
          />
        ) : null}
        {!list.isLoading && !list.error && list.items.length === 0 && !list.hasMore
          ? empty(isFiltered)
          : null}
        {list.items.length > 0 || list.hasMore ? (
          <More
            hasMore={list.hasMore}
            isLoading={list.isLoadingMore}
            onMore={list.loadMore}
            shown={list.items.length}
          />
        ) : null}
      </Panel>
    </>
  )
}

function Filters<T>({
  label,
  filters,
  controls,
  fromLabel,
  onSubmit,
  isFiltered,
}: FilteredListProps<T> & { isFiltered: boolean }) {
  const { query, setFilters } = useFilters()
  useZone()
  const value = (name: string) => query.get(name) ?? ''
  const folded = useFolded(isFiltered)
  return (
    <form
      className={`filters is-roomy${folded.className}`}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit?.(new FormData(event.currentTarget))
      }}
    >
      {controls}
      <Field
        label={fromLabel}
        type="datetime-local"
        value={toInputValue(value('from'))}
        onChange={(event) => setFilters({ from: toInstant(event.target.value) })}
      />
      <Field
        label="Before"
        type="datetime-local"
        value={toInputValue(value('to'))}
        onChange={(event) => setFilters({ to: toInstant(event.target.value) })}
      />
      {folded.toggle}
      {isFiltered ? (
        <div>
          <Button
            onClick={() => setFilters(Object.fromEntries(filters.map((name) => [name, null])))}
          >
            Clear filters
          </Button>
        </div>
      ) : null}
    </form>
  )
}

/** A text field; applies when it loses the focus. */
export function TypedFilter({ name, ...rest }: ComponentProps<typeof Field> & { name: string }) {
  const { query, setFilters } = useFilters()
  const value = query.get(name) ?? ''
  return (
    <Field
      key={value}
      name={name}
      defaultValue={value}
      onBlur={(event) => setFilters({ [name]: event.target.value.trim() })}
      onKeyDown={(event) => {
        // A form with several fields and no button is not submitted by Return alone.
        if (event.key !== 'Enter') return
        event.preventDefault()
        event.currentTarget.form?.requestSubmit()
      }}
      {...rest}
    />
  )
}

/** A choice from a list; applies at once. */
export function ChosenFilter({ name, ...rest }: ComponentProps<typeof Select> & { name: string }) {
  const { query, setFilters } = useFilters()
  return (
    <Select
      value={query.get(name) ?? ''}
      onChange={(event) => setFilters({ [name]: event.target.value })}
      {...rest}
    />
  )
}
