// Endpoints counted by the one word that says how each stands.

import { Type } from '../basics/type.ts'

export const HealthCounts = Type.Object(
  {
    healthy: Type.Integer(),
    failing: Type.Integer({ description: 'Active, and its last attempts have failed.' }),
    paused: Type.Integer(),
    disabled: Type.Integer(),
  },
  { description: 'Webhooks, subscriptions and listeners, by their health.' },
)
