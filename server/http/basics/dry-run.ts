// `dryRun`, of every action that may concern many deliveries: in the query or in the body. A misspelt one is
// refused, because ignoring it would change deliveries that the caller only wanted to count.

import { Type } from './type.ts'
import { invalidFields, invalidQuery } from './validation.ts'

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

interface Asked {
  query: { dryRun?: boolean }
  body: { dryRun?: boolean }
}

/** Throws for a misspelt one, and where query and body contradict each other. */
export function isDryRun({ query, body }: Asked): boolean {
  const inQuery = findMisspelt(query)
  if (inQuery !== undefined) throw invalidQuery([misspelt(inQuery)])
  const inBody = findMisspelt(body)
  if (inBody !== undefined) throw invalidFields([misspelt(inBody)])
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

/**
 * For an action without a dry run: a caller that asks for one must not trigger the action. Its body is not read
 * otherwise, and may be anything.
 */
export function refuseDryRun({ query, body }: { query: unknown; body: unknown }): void {
  const inQuery = Object.keys(query as object).find(isMeant)
  if (inQuery !== undefined) throw invalidQuery([notTaken(inQuery)])
  const [inBody] =
    Object.entries(body ?? {}).find(([name, value]) => isMeant(name) && value !== false) ?? []
  if (inBody !== undefined) throw invalidFields([notTaken(inBody)])
}

function notTaken(name: string) {
  return {
    pointer: `/${name}`,
    code: 'not-taken',
    detail: 'This act has no dry run: it would be done.',
  }
}

function findMisspelt(members: object): string | undefined {
  return Object.keys(members).find((name) => name !== 'dryRun' && isMeant(name))
}

function isMeant(name: string): boolean {
  return /^dry[-_]?run$/i.test(name)
}

function misspelt(name: string) {
  return { pointer: `/${name}`, code: 'misspelt', detail: 'Must be spelt dryRun.' }
}
