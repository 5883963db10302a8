// The filter of the list as controls. A choice applies at once, typed text when it is submitted.

import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react'
import { DELIVERY_STATES, EVENT_KINDS } from '../../../../sdk/src/internal/words.ts'
import { CLIENT_CODES } from '../../../../server/core/delivery/outcome-words.ts'
import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Page, Webhook } from '../../api/types.ts'
import { FindFilter } from '../../filters/find-filter.tsx'
import { useNameOf } from '../../filters/sources.ts'
import { navigate } from '../../router.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toOutcomeHead } from '../../ui/basics/outcome.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { useFolded } from '../../ui/lists/filter-toggle.tsx'
import { toInputValue } from '../../ui/times/instant.ts'
import { useZone, zoneName } from '../../ui/times/zone.ts'
import {
  type Filter,
  isEmpty,
  isRecentPeriod,
  isUuid,
  LABELS,
  RECENT_PERIODS,
  statesOf,
  toFilterText,
  toggleState,
  toInstant,
  toQuery,
} from './filter.ts'

/** As a client names them; the address takes any that the API knows. */
const OUTCOMES = [
  ['', 'Any answer'],
  ['5xx', '5xx'],
  ['4xx', '4xx'],
  ['3xx', '3xx'],
  ['2xx', '2xx'],
  ['none', 'Not attempted'],
  ...CLIENT_CODES.map((code) => [code, toOutcomeHead(code)] as const),
] as const

/** What the operator finds by name. */
const FOUND = [
  ['client', 'clientId'],
  ['endpoint', 'endpointId'],
  ['account', 'accountId'],
] as const

export function Filters({ filter }: { filter: Filter }) {
  const { kind } = useSession()
  const isOperator = kind === 'operator'
  useZone()
  const [wantsCustom, setWantsCustom] = useState(false)
  const isCustom = wantsCustom || filter.from !== '' || filter.to !== ''
  const folded = useFolded(!isEmpty(filter))
  const toLook = (change: Partial<Filter>) => `/deliveries${toQuery({ ...filter, ...change })}`
  const go = (change: Partial<Filter>) => navigate(toLook(change))

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const typed = (name: keyof Filter) => String(form.get(name) ?? filter[name]).trim()
    const ownTime = { last: '', from: toInstant(typed('from')), to: toInstant(typed('to')) }
    go({ ...toPayment(form.get('payment')), q: typed('q'), ...(isCustom ? ownTime : {}) })
  }

  const chooseTime = (value: string) => {
    setWantsCustom(value === 'custom')
    if (value !== 'custom') go({ last: value, from: '', to: '' })
  }

  return (
    <form
      className={`panel delivery-filters${folded.className}`}
      onSubmit={submit}
      aria-label="Deliveries"
    >
      <div className="search-row">
        {isOperator ? (
          <TypedField
            label="Search"
            name="q"
            type="search"
            given={filter.q}
            maxLength={256}
            placeholder="Payment id, external id, event id or delivery id"
          />
        ) : (
          <TypedField
            label="Payment"
            name="payment"
            type="search"
            given={filter.paymentId || filter.externalId}
            maxLength={256}
            placeholder="External id or payment id"
          />
        )}
        <Button type="submit" look="primary">
          Search
        </Button>
      </div>
      <div className="filter-row">
        <fieldset className="states">
          <legend className="field-label">State</legend>
          {DELIVERY_STATES.map((state) => (
            <button
              key={state}
              type="button"
              className="state-toggle"
              aria-pressed={statesOf(filter).includes(state)}
              onClick={() => go(toggleState(filter, state))}
            >
              {state}
            </button>
          ))}
        </fieldset>
        {isOperator ? (
          <Select
            label="Kind"
            value={filter.event}
            onChange={(event) => go({ event: event.target.value })}
            options={[['', 'Every kind'], ...EVENT_KINDS]}
          />
        ) : (
          <EndpointSelect value={filter.endpointId} onChange={(endpointId) => go({ endpointId })} />
        )}
        <Select
          label="Answer"
          value={filter.outcome}
          onChange={(event) => go({ outcome: event.target.value })}
          options={[
            ...OUTCOMES,
            ...(OUTCOMES.some(([value]) => value === filter.outcome) ? [] : [filter.outcome]),
          ]}
        />
        <Select
          label="Time"
          value={isCustom ? 'custom' : isRecentPeriod(filter.last) ? filter.last : ''}
          onChange={(event) => chooseTime(event.target.value)}
          options={[
            ['', 'All time'],
            ...Object.entries(RECENT_PERIODS).map(([value, { label }]) => [value, label] as const),
            ['custom', 'From … to …'],
          ]}
        />
        {isCustom ? (
          <>
            <TypedField
              label={`From (${zoneName()})`}
              name="from"
              type="datetime-local"
              step={1}
              given={toInputValue(filter.from, { hasSeconds: true })}
            />
            <TypedField
              label={`To (${zoneName()})`}
              name="to"
              type="datetime-local"
              step={1}
              given={toInputValue(filter.to, { hasSeconds: true })}
            />
          </>
        ) : null}
      </div>
      {isOperator ? (
        <div className="filter-row">
          {FOUND.map(([source, name]) => (
            <FindFilter
              key={name}
              of={source}
              value={filter[name]}
              onChange={(id) => go({ [name]: id })}
            />
          ))}
        </div>
      ) : null}
      {folded.toggle}
      {isCustom ? (
        <div>
          <Button type="submit">Apply</Button>
        </div>
      ) : null}
      {isEmpty(filter) ? null : (
        <div className="row">
          <Chips filter={filter} toLook={toLook} />
          <Link to="/deliveries">Clear all</Link>
        </div>
      )}
    </form>
  )
}

/** A client's one field takes either name of a payment; the operator's search has no such field. */
function toPayment(given: FormDataEntryValue | null): Partial<Filter> {
  if (given === null) return {}
  const text = String(given).trim()
  return isUuid(text) ? { paymentId: text, externalId: '' } : { paymentId: '', externalId: text }
}

/** What narrows the list, each with the way to undo it. */
function Chips({ filter, toLook }: { filter: Filter; toLook(change: Partial<Filter>): string }) {
  const set = (Object.keys(LABELS) as (keyof Filter)[]).filter((name) => filter[name] !== '')
  return (
    <ul className="chips" aria-label="Filters that are set">
      {set.map((name) => (
        <li key={name} className="chip">
          <span className="muted">{LABELS[name]}</span> <FilterText filter={filter} name={name} />
          <Link to={toLook({ [name]: '' })} aria-label={`Remove the filter ${LABELS[name]}`}>
            ×
          </Link>
        </li>
      ))}
    </ul>
  )
}

function FilterText({ filter, name }: { filter: Filter; name: keyof Filter }) {
  const source = FOUND.find(([, member]) => member === name)?.[0]
  const isOperator = useSession().kind === 'operator'
  const found = useNameOf(source ?? 'client', source && isOperator ? filter[name] : '')
  return <span className="break">{found || toFilterText(filter, name)}</span>
}

/** Keeps the focus and what is being typed, until the address says something else. */
function TypedField({ given, ...rest }: ComponentProps<typeof Field> & { given: string }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current) input.current.value = given
  }, [given])
  return <Field ref={input} defaultValue={given} {...rest} />
}

/** A client has few endpoints: it may choose instead of knowing ids. */
function EndpointSelect({ value, onChange }: { value: string; onChange(id: string): void }) {
  const webhooks = useRead<Page<Webhook>>('/v1/webhooks?size=100')
  const subscriptions = useRead<Page<Webhook>>('/api/v1/payments/subscriptions?size=100')
  const all = [...(webhooks.data?.content ?? []), ...(subscriptions.data?.content ?? [])]
  const options = all.map(({ id, endpointUrl }) => [id, endpointUrl] as const)
  // One that is gone still filters its history.
  const isUnknown = value !== '' && all.every(({ id }) => id !== value)
  return (
    <Select
      label="Endpoint"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      options={[['', 'Every endpoint'], ...options, ...(isUnknown ? [value] : [])]}
    />
  )
}
