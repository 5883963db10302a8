// Changes an endpoint: pauses or resumes it, or gives it other settings. A paused one loses nothing: its deliveries
// wait, and are due when it is active again, with the time that they waited added to their run. One that was down is
// probed first.

import type { Endpoint, OwnerStatus } from '../../core/delivery/endpoint.ts'
import {
  changeSettings,
  DEFAULT_SETTINGS,
  type EndpointSettings,
  type SettingsChange,
  settingTexts,
} from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  type EndpointScope,
  type LockedEndpoint,
  lockEndpoint,
  replaceSettings,
  saveStatus,
} from '../../store/endpoints/endpoints.ts'
import { releaseDeliveriesOf } from '../../store/owed/deliveries.ts'
import { probeResumed } from '../../store/owed/retries.ts'
import type { AuditChange } from '../../store/proofs/audit-table.ts'
import { assertStays } from '../access/move-checks.ts'
import { holdSealing } from '../sealing/bind-addresses.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { assertHeadersApart } from '../shared/headers-apart.ts'
import { notFound } from '../shared/service-errors.ts'
import { assertTokenCertificate, checkTls, holdNamed } from './check-tls.ts'
import { sealOauth2 } from './seal-oauth2.ts'

export interface EndpointChange {
  /** Null: as it is. */
  status: OwnerStatus | null
  settings: SettingsChange
}

export async function changeEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  change: EndpointChange,
  audit: Audit = NO_AUDIT,
): Promise<Endpoint> {
  // Waits in the client's line, because what waits for the row in the database holds a connection.
  const { before, after, now } = await deps.endpointChanges.run(scope.clientKey, () =>
    changeInTransaction(deps, scope, endpointId, change, audit),
  )
  const isResumed = change.status === 'ACTIVE' && before.inactiveSince !== null
  const lane = [scope.clientKey, after.id, before.shard] as const
  if (isResumed) deps.engine.endpointRetried(...lane, now.getTime())
  else deps.engine.endpointChanged(...lane)
  return after
}

function changeInTransaction(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  change: EndpointChange,
  audit: Audit,
): Promise<{ before: LockedEndpoint; after: Endpoint; now: Date }> {
  const now = new Date(deps.clock.nowMs())
  return inTransaction(deps.pool, async (db) => {
    await holdNamed(db, change.settings)
    if (change.settings.oauth2) await holdSealing(db, deps.sealer)
    const before = await lockEndpoint(db, scope, endpointId)
    if (before === null) throw notFound()
    // A move has paused it, and would resume it: a pause that changes nothing now would be lost.
    await assertStays(db, scope.clientKey)
    const { endpoint } = before
    if (endpoint.kind === 'listener') refuseSettings(Object.keys(change.settings))
    const checked = await checkTls(deps, db, change.settings, {
      ...endpoint,
      clientKey: scope.clientKey,
    })
    const settings = changeSettings(endpoint.settings, sealOauth2(deps.sealer, endpoint, checked))
    assertHeadersApart(settings, before.headerName)
    assertTokenCertificate(settings)
    const after = { ...endpoint, status: change.status ?? endpoint.status, settings }
    await audit(db, `endpoint:${endpoint.id}`, changesOf(endpoint, after))
    if (settings !== null && settings !== endpoint.settings) {
      await replaceSettings(db, scope.clientKey, endpoint.id, settings, now)
    }
    if (change.status !== null && change.status !== endpoint.status) {
      await changeStatus(db, scope.clientKey, before, change.status, now)
    }
    return { before, after, now }
  })
}

export const NO_LISTENER_SETTINGS =
  'A listener has no settings: it gets everything, as an endpoint does by default.'

/** Of a listener: throws where any are given. */
function refuseSettings(names: readonly string[]): void {
  if (names.length === 0) return
  const detail = NO_LISTENER_SETTINGS
  const errors = names.map((name) => ({ pointer: `/${name}`, code: 'not-taken', detail }))
  throw new ServiceError('invalid-fields', detail, { errors })
}

async function changeStatus(
  db: Db,
  clientKey: number,
  { endpoint: { id }, inactiveSince }: LockedEndpoint,
  status: OwnerStatus,
  now: Date,
): Promise<void> {
  // Pausing what was disabled keeps the moment since which nothing has been sent.
  const since = status === 'ACTIVE' ? null : (inactiveSince ?? now)
  await saveStatus(db, clientKey, id, { status, inactiveSince: since }, now)
  if (status === 'ACTIVE') {
    await probeResumed(db, clientKey, id, now)
    await releaseDeliveriesOf(db, clientKey, id, inactiveSince ?? now, now)
  }
}

/** The trail leaves out what did not change. */
function changesOf(before: Endpoint, after: Endpoint): AuditChange[] {
  const textsOf = ({ settings }: Endpoint) => settingTexts(settings ?? DEFAULT_SETTINGS)
  const [old, current] = [textsOf(before), textsOf(after)]
  const names = Object.keys(old) as (keyof EndpointSettings)[]
  return [
    { field: 'status', before: before.status, after: after.status },
    ...names.map((name) => ({ field: name, before: old[name], after: current[name] })),
  ]
}
