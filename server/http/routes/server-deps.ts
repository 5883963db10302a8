// The dependencies of the HTTP servers of a process: everything that operations use, and what only some
// routes need. All of it is made once; with an operator port, two servers share it.

import type { Tracer } from '@opentelemetry/api'
import type { FastifyBaseLogger } from 'fastify'
import type { Access } from '../../operations/access/access.ts'
import type { WebhookKeys } from '../../operations/access/webhook-keys.ts'
import type { JobDeps } from '../../operations/deliveries/start-job.ts'
import type { ListenerDeps } from '../../operations/endpoints/next-callback.ts'
import type { Routes } from '../basics/typed.ts'
import type { AnsweredRequest } from '../watching/request-metrics.ts'
import type { PaymentRoutesDeps } from './operator/operator-payments.ts'
import type { StatsRoutesDeps } from './operator/operator-stats.ts'

export interface ServerDeps extends JobDeps, ListenerDeps, PaymentRoutesDeps, StatsRoutesDeps {
  access: Access
  webhookKeys: WebhookKeys
  logger: FastifyBaseLogger
  readiness(): Promise<Readiness> | Readiness
  /** True while the process is about to stop: keep-alive connections close with their next answer. */
  isDraining(): boolean
  /** Prometheus text. */
  metrics(): Promise<string> | string
  onAnswered(request: AnsweredRequest): void
  /** Null when the process was started without an OpenTelemetry SDK. */
  tracer: Tracer | null
  /** The routes that only a sandbox has; null in production, which does not load them. */
  sandbox: Routes | null
  /** What to type for `paybell` beside a sandbox. */
  command?: string | undefined
}

export interface Readiness {
  ready: boolean
  /** Why it is not ready, in plain words without secrets or inner addresses. */
  reasons: readonly string[]
}

/** With an operator port there are two servers, and neither has the other's routes. */
export type Surface = 'all' | 'public' | 'operator'
