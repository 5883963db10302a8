// `dryRun`, of every action that may concern many deliveries: in the query or in the body. Misspelt
// ones are refused as all names are (unknown-members.ts): ignored, they would change what the caller only wanted to count.

import { Type } from './type.ts'
import { invalidFields } from './validation.ts'

/** A member of a body, and of a query. */
export const DryRun = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'true: only tells how many there would be. In the query or in the body; where both are given, they must agree.',
  }),
)

/** What the answer to one means. */
export const DRY_RUN_MEANING = 'The dry run: how many match. Nothing was changed.'

export const DryRunQuery = Type.Object({ dryRun: DryRun })

interface DryRunRequest {
  query: { dryRun?: boolean }
  body: { dryRun?: boolean }
}

/** Throws where query and body contradict each other. */
export function isDryRun({ query, body }: DryRunRequest): boolean {
  const { dryRun = query.dryRun } = body
  if (query.dryRun !== undefined && query.dryRun !== dryRun) {
    throw invalidFields([
      {
        pointer: '/dryRun',
        code: 'contradiction',
        detail: 'Must not differ from that of the query.',
      },
    ])
  }
  return dryRun ?? false
}

/** Of an act without a dry run: a caller that asks for one must not trigger the act. */
export const NO_DRY_RUN = { dryRun: 'This act has no dry run: it would be done.' }

export const NoDryRunQuery = Type.Object({}, { refused: NO_DRY_RUN })
