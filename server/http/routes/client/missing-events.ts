// What an endpoint was never owed: counted, or sent. For webhooks, subscriptions and listeners.

import { previewMissing, replayMissing } from '../../../operations/deliveries/replay-missing.ts'
import type { JobDeps } from '../../../operations/deliveries/start-job.ts'
import { DRY_RUN_MEANING, DryRun, DryRunQuery, isDryRun } from '../../basics/dry-run.ts'
import { readSinceUntil, sinceUntilFields } from '../../basics/since-until.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { ENDPOINT_DOORS } from '../../schemas/endpoint-doors.ts'
import { EventChoiceSchema } from '../../schemas/endpoint-settings-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

const MissingBody = Type.Object(
  {
    ...sinceUntilFields('Events'),
    events: Type.Optional(
      Type.Array(EventChoiceSchema, {
        minItems: 1,
        uniqueItems: true,
        description: 'Only events of these kinds; by default all that it was not owed.',
      }),
    ),
    dryRun: DryRun,
  },
  { examples: [{ since: '2026-03-01T00:00:00Z', events: ['payment.paid'] }] },
)

const WouldQueue = Type.Object({ wouldQueue: Type.Integer() }, { examples: [{ wouldQueue: 17 }] })
const Queued = Type.Object({ queued: Type.Integer() }, { examples: [{ queued: 17 }] })

export function missingEventRoutes(deps: JobDeps): Routes {
  return (app) => {
    for (const door of ENDPOINT_DOORS) {
      const { kind, path, name, tags } = door
      app.route({
        method: 'POST',
        url: `${path}/:id/replay-missing`,
        ...forClients({
          operationId: `replayMissing${name}`,
          tags,
          summary: `Send what a ${kind} was never owed`,
          description:
            'Makes deliveries of events that were made before it was registered, or that its settings kept from it: oldest first, marked with X-Paybell-Replay: true, for as long as your operator keeps history. Asked for twice, nothing is sent twice. At most 100,000 at a time; ask with dryRun=true first to learn how many there are.',
          params: IdParams,
          querystring: DryRunQuery,
          body: MissingBody,
          answers: {
            200: answer(DRY_RUN_MEANING, WouldQueue),
            202: answer('How many deliveries are made. Large jobs go on after the answer.', Queued),
          },
          problems: ['filter-too-wide', 'overloaded'],
        }),
        handler: async (request, reply) => {
          const isDry = isDryRun(request)
          const scope = scopeOf(request, door)
          const id = readId(request.params.id)
          const missing = { ...readSinceUntil(request.body), events: request.body.events ?? null }
          if (isDry) return { wouldQueue: await previewMissing(deps, scope, id, missing) }
          const queued = await replayMissing(deps, scope, id, missing)
          reply.code(202)
          return { queued }
        },
      })
    }
  }
}
