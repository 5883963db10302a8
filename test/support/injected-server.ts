// A server of the HTTP interface on a database of its own, spoken to through `inject`: its clock is
// moved by hand, its engine only records its calls, its log is a list of lines.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { type Logger, pino } from 'pino'
import { type Config, loadConfig, type Mode } from '../../server/config/config.ts'
import { policiesOf } from '../../server/config/policies.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import type { App } from '../../server/http/basics/typed.ts'
import type { Readiness, ServerDeps, Surface } from '../../server/http/routes/server-deps.ts'
import { buildServer } from '../../server/http/server.ts'
import { createGatherer } from '../../server/operations/accepting/create-gatherer.ts'
import { createAccess } from '../../server/operations/access/access.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { WebhookKeys } from '../../server/operations/access/webhook-keys.ts'
import { ShownCertificates } from '../../server/operations/certificates/shown-certificates.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { openAccount } from '../../server/operations/clients/open-account.ts'
import { JOB_RUNNER_DEFAULTS, JobRunner } from '../../server/operations/deliveries/job-runner.ts'
import { ListenerRelay } from '../../server/operations/endpoints/listener-relay.ts'
import { learnSealing } from '../../server/operations/sealing/bind-addresses.ts'
import { CallbackLinks } from '../../server/operations/shared/callback-links.ts'
import type { Deps } from '../../server/operations/shared/deps.ts'
import { createEndpointChanges } from '../../server/operations/shared/endpoint-changes.ts'
import { DemoReceivers } from '../../server/sandbox/demo-receivers.ts'
import { sandboxRoutes } from '../../server/sandbox/sandbox-routes.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { LiveStream } from '../../server/telemetry/live-stream.ts'
import { reportUntrustedKeys } from '../../server/telemetry/untrusted-keys.ts'
import type { Owner } from './owner.ts'

export const OPERATOR_KEY = 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA'
export const BASE_URL = 'https://paybell.test'

/** Time stands still until a test moves it. */
export class HandClock {
  hasJumped = false
  #ms = Date.parse('2026-03-02T09:30:00.400Z')

  nowMs(): number {
    return this.#ms
  }

  monotonicMs(): number {
    return this.#ms
  }

  advance(seconds: number): void {
    this.#ms += seconds * 1_000
  }
}

export interface TestServerOptions {
  mode?: Mode
  env?: Readonly<Record<string, string>>
  surface?: Surface
  sealer?: Sealer
  clock?: HandClock
  metrics?: () => string
  /** Those that only a sandbox has. */
  hasSandboxRoutes?: true
  /** What takes payment changes; they are recorded unless a test says otherwise. */
  gatherer?: ServerDeps['gatherer']
  /** What the world does with a POST; by default no receiver is there. */
  send?: ServerDeps['send']
}

export interface TestServer {
  app: App
  deps: ServerDeps
  clock: HandClock
  /** The calls of the engine: `clientKey endpointId shard`. */
  notices: string[]
  /** Every line of the log, as it was written. */
  log: string[]
  readiness: Readiness
}

const NOBODY_THERE = { kind: 'unreachable', reason: 'connect-error' } as const
const MASTER_KEY = randomBytes(32)

export async function serveHttp(
  t: Owner,
  pool: Pool,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const mode = options.mode ?? 'sandbox'
  const clock = options.clock ?? new HandClock()
  const notices: string[] = []
  const log: string[] = []
  const readiness: Readiness = { ready: true, reasons: [] }
  const config = testConfig(mode, options.env ?? {})
  const ids = new UuidMaker(() => clock.nowMs(), randomBytes, config.cell)
  const sealer = options.sealer ?? new Sealer([MASTER_KEY])
  await learnSealing({ pool, sealer })
  const newId = () => ids.next()
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) })
  const onUntrustedKeys = reportUntrustedKeys(logger)
  const webhookKeys = new WebhookKeys({ pool, clock, config, sealer, newId, onUntrustedKeys })
  const policies = policiesOf(config)
  const base: Deps = {
    pool,
    clock,
    config,
    policies,
    sealer,
    webhookKeys,
    onUntrustedKeys,
    targets: { loopbackAllowed: mode === 'sandbox', allowedNetworks: config.allowedNetworks },
    newId,
    engine: {
      beginAccept: () => () => {},
      endpointChanged: (...notice) => notices.push(notice.join(' ')),
      endpointRetried: (...notice) => notices.push(notice.join(' ')),
    },
    endpointChanges: createEndpointChanges({ requestsPerSecond: 200 }),
    shownCertificates: new ShownCertificates({ pool, sealer, clock }),
    callbackLinks: new CallbackLinks(pool, sealer, () => BASE_URL),
    send: options.send ?? (async () => ({ outcome: NOBODY_THERE, durationMs: 0 })),
  }
  // One shared object: a test may replace its pool, for every user of it.
  const deps: ServerDeps = Object.assign(base, {
    ...partsOf(base, options, logger),
    webhookKeys,
    access: createAccess(base),
    logger,
    version: '0.0.0',
    baseUrl: () => BASE_URL,
    readiness: () => server.readiness,
    isDraining: () => false,
    metrics: options.metrics ?? (() => '# none\n'),
    onAnswered() {},
    tracer: null,
    sandbox: null,
  })
  if (options.hasSandboxRoutes) {
    const { keys } = deps.access
    deps.sandbox = sandboxRoutes(new DemoReceivers())({ clock, keys })
  }
  const server: Omit<TestServer, 'app'> = { clock, notices, log, readiness, deps }
  const app = await buildServer(deps, options.surface)
  t.after(() => app.close())
  return Object.assign(server, { app })
}

/** What the routes ask besides operations: the service's own parts, of which none runs by itself. */
function partsOf(deps: Deps, options: TestServerOptions, log: Logger) {
  const accounts = new AccountDirectory(deps.pool)
  return {
    accounts,
    jobs: new JobRunner(deps, { ...JOB_RUNNER_DEFAULTS, runnerId: randomUUID(), log }),
    relay: new ListenerRelay(deps, {
      deadlineMs: 15_000,
      cautiousMs: () => deps.clock.monotonicMs(),
      onError() {},
    }),
    gatherer: options.gatherer ?? createGatherer(deps, accounts),
    stream: new LiveStream(),
    inFlight: () => 0,
  }
}

function testConfig(mode: Mode, env: Readonly<Record<string, string>>): Config {
  return loadConfig(mode, {
    PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
    DATABASE_URL: 'postgres://handed-in',
    PAYBELL_MASTER_KEY: MASTER_KEY.toString('base64'),
    ...env,
  })
}

export interface TestClient {
  clientId: string
  clientKey: number
  clientSecret: string
  accountId: string
  token: string
  /** Headers of a request in this client's name, for its account. */
  headers: { authorization: string; accountid: string }
  /** The same without an account. */
  bearer: { authorization: string }
}

export async function onboard(server: TestServer, name = 'Test client'): Promise<TestClient> {
  const { client, secret } = await onboardClient(server.deps, name)
  const account = await openAccount(server.deps, client.id, 'Main')
  const answer = await server.app.inject({
    method: 'POST',
    url: '/auth/token',
    payload: { clientId: client.id, clientSecret: secret },
  })
  const token: string = answer.json().access_token
  const bearer = { authorization: `Bearer ${token}` }
  return {
    clientId: client.id,
    clientKey: client.clientKey,
    clientSecret: secret,
    accountId: account.id,
    token,
    bearer,
    headers: { ...bearer, accountid: account.id },
  }
}

interface Answer {
  statusCode: number
  headers: Record<string, unknown>
  body: string
}

/** The one shape of a failure (RFC 9457), whole; returns it for a closer look. */
export function assertProblem(answer: Answer, status: number, code: string): ProblemBody {
  assert.equal(answer.statusCode, status, `${code} expected, got ${answer.body}`)
  assert.equal(answer.headers['content-type'], 'application/problem+json')
  const problem: ProblemBody = JSON.parse(answer.body)
  assert.equal(problem.code, code)
  assert.equal(problem.status, status)
  assert.equal(problem.type, `${BASE_URL}/problems/${code}`)
  assert.ok(problem.title && problem.detail)
  assert.equal(problem.instance, `urn:request:${answer.headers['x-request-id']}`)
  return problem
}

export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  error?: string
  errors?: { pointer: string; code: string; detail: string }[]
}

/** The body without what differs from request to request. */
export function withoutRequestId(answer: Answer): string {
  return answer.body.replaceAll(String(answer.headers['x-request-id']), '<request id>')
}
