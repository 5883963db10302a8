// GET /operator/v1/settings: how this process is configured. A secret is only shown as set.

import type { Deps } from '../../../operations/shared/deps.ts'
import { TextOrNull, WordOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'

export const Setting = Type.Object(
  {
    name: Type.String(),
    isSecret: Type.Boolean(),
    isSet: Type.Boolean(),
    value: TextOrNull('Null for secrets, whole and in part, and for what is not set.'),
    source: WordOrNull(['environment', 'file', 'default']),
    about: Type.String(),
  },
  {
    examples: [
      {
        name: 'PAYBELL_RETENTION_DAYS',
        isSecret: false,
        isSet: true,
        value: '30',
        source: 'default',
        about: 'How long events, attempts and finished deliveries are kept, 8 to 3650 days.',
      },
    ],
  },
)

export function operatorSettingsRoutes(deps: Pick<Deps, 'config'>): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/settings',
      ...forOperators('viewer', {
        operationId: 'listSettings',
        summary: 'See the settings',
        description:
          'As the process that answers resolved them at its start. Secrets are never shown, only whether they are set.',
        answers: {
          200: answer(
            'Every setting; of a secret only whether it is set.',
            Type.Object({ settings: Type.Array(Setting) }),
          ),
        },
      }),
      handler: async () => ({ settings: [...deps.config.settings] }),
    })
  }
}
