// /sandbox/clock: the speed of the delivery clock. Only in the sandbox, where a delivery's run of 7 days may
// be over in a minute.

import { Type } from '../http/basics/type.ts'
import type { App, Routes } from '../http/basics/typed.ts'
import { authenticateOperator } from '../http/requests/authenticate.ts'
import { BODY_PROBLEMS, OPERATOR_PROBLEMS, problemResponses } from '../http/schemas/schemas.ts'
import type { OperatorKeys } from '../operations/access/live-operator-keys.ts'

/** The policies that the delivery clock divides (config/policies). */
export interface TimeScale {
  readonly current: { readonly timeScale: number }
  changeTimeScale(timeScale: number): void
}

const TIME_SCALE_MAX = 100_000
const URL = '/sandbox/clock'
const tags = ['Sandbox']
const security = [{ operatorKey: [] }]

const Clock = Type.Object(
  {
    timeScale: Type.Integer({
      minimum: 1,
      maximum: TIME_SCALE_MAX,
      description: 'How many times faster than the wall clock.',
    }),
  },
  { examples: [{ timeScale: 10_000 }] },
)

const Answer = Type.Object(Clock.properties, { description: 'How fast it runs now.' })

export function sandboxClockRoutes(policies: TimeScale, keys: OperatorKeys): Routes {
  return async (app) => {
    await app.register(async (scope: App) => addRoutes(scope, policies, keys))
  }
}

function addRoutes(app: App, policies: TimeScale, keys: OperatorKeys): void {
  app.addHook('onRequest', authenticateOperator(keys))

  app.route({
    method: 'GET',
    url: URL,
    config: { role: 'viewer' },
    schema: {
      operationId: 'getSandboxClock',
      tags,
      summary: 'See how fast the delivery clock runs (sandbox only)',
      description: '1 is real time.',
      security,
      response: { 200: Answer, ...problemResponses(...OPERATOR_PROBLEMS) },
    },
    handler: async () => ({ timeScale: policies.current.timeScale }),
  })

  app.route({
    method: 'PUT',
    url: URL,
    config: { role: 'admin' },
    schema: {
      operationId: 'setSandboxClock',
      tags,
      summary: 'Let the delivery clock run faster or slower (sandbox only)',
      description:
        'For what is decided from now on: each next delay, and the 7 days of deliveries not yet attempted. A restart goes back to PAYBELL_TIME_SCALE.',
      security,
      body: Clock,
      response: { 200: Answer, ...problemResponses(...OPERATOR_PROBLEMS, ...BODY_PROBLEMS) },
    },
    handler: async (request) => {
      const { timeScale } = request.body
      policies.changeTimeScale(timeScale)
      request.log.info({ timeScale }, 'time-scale.changed')
      return { timeScale }
    },
  })
}
