// What `paybell doctor` asks the running service about its endpoints: which there are, and by name those
// that fail or were disabled.

import type { OperatorEndpointDetail } from '../../../sdk/src/internal/operator-types.ts'
import type { Page } from '../../../sdk/src/wire/types.ts'
import { outcomeText } from '../../../server/core/delivery/outcome-words.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { operatorApi } from '../../basics/target.ts'
import { formatCount, formatTime, plural } from '../../basics/terminal.ts'

export interface EndpointFindings {
  checks: readonly Check[]
  /** To try to connect to; null where the service could not be asked. */
  urls: readonly string[] | null
}

/** So many failing endpoints are named; the rest is counted. */
const NAMED_MAX = 5
const TRIED_MAX = 100

export async function checkEndpoints(
  serviceUrl: string | null,
  operatorKey: string | null,
  assertSafe: (url: string) => Promise<void> = async () => {},
): Promise<EndpointFindings> {
  if (serviceUrl === null || operatorKey === null)
    return unasked('set PAYBELL_URL and PAYBELL_OPERATOR_KEY')
  const api = operatorApi(serviceUrl, operatorKey)
  const read = async (query: Record<string, string | number>) =>
    (await api.get('/operator/v1/endpoints', query)).json<Page<OperatorEndpointDetail>>()
  try {
    await assertSafe(serviceUrl)
    const all = await read({ size: TRIED_MAX })
    const failing = await read({ failing: 'true', status: 'ACTIVE', size: NAMED_MAX })
    const disabled = await read({ status: 'DISABLED', size: NAMED_MAX })
    return {
      checks: describeAll(all.totalElements, failing, disabled),
      urls: all.content.map(({ endpointUrl }) => endpointUrl),
    }
  } catch (error) {
    return unasked((error as Error).message)
  }
}

function unasked(why: string): EndpointFindings {
  const detail = `the running service was not asked: ${why}`
  return { checks: [{ name: 'endpoints', status: 'skipped', detail }], urls: null }
}

function describeAll(
  total: number,
  failing: Page<OperatorEndpointDetail>,
  disabled: Page<OperatorEndpointDetail>,
): readonly Check[] {
  const bad = failing.totalElements + disabled.totalElements
  if (bad === 0) {
    const detail =
      total === 0 ? 'none is registered yet' : `${plural(total, 'endpoint')}, none is failing`
    return [{ name: 'endpoints', status: 'ok', detail }]
  }
  const named = [...failing.content, ...disabled.content]
  const rest = bad - named.length
  return [
    {
      name: 'endpoints',
      status: 'warning',
      detail: `${formatCount(bad)} of ${plural(total, 'endpoint')} failing or disabled`,
    },
    ...named.map(describeOne),
    ...(rest > 0 ? [andMore(rest)] : []),
  ]
}

function describeOne({ id, endpointUrl, status, health }: OperatorEndpointDetail): Check {
  const since = health.failingSince === null ? '' : ` since ${formatTime(health.failingSince)}`
  const isDisabled = status === 'DISABLED'
  const last = health.lastError === null ? '' : `, last: ${outcomeText(health.lastError)}`
  const how = isDisabled ? `is disabled${since && ', failing'}` : 'has been failing'
  return {
    name: 'endpoints',
    status: 'warning',
    detail: `${endpointUrl} ${how}${since}${last}; ${formatCount(health.pending)} waiting`,
    remedy: isDisabled
      ? `When its receiver works again: paybell endpoints resume ${id}`
      : `See why: paybell deliveries list --endpoint ${id} --limit 5`,
  }
}

function andMore(count: number): Check {
  const detail = `and ${formatCount(count)} more`
  return { name: 'endpoints', status: 'warning', detail, remedy: 'paybell endpoints list' }
}
