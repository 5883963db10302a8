// Every statement of the store is held to rules about its plan, in every state that statistics can be in: what
// reads or sorts what has piled up never passes. A plan is printed where it breaks one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../../server/core/plain/uuid.ts'
import { listReadFaults } from './reads.ts'
import { listFaults } from './rules.ts'
import { renderWithPlans } from './shown.ts'
import { type Explained, explainStore } from './states.ts'

/** Of the PostgreSQL that comes with Paybell. */
const VERSION = 18

/** What they insert is there, once: they cannot be run a second time. */
const NOT_RUN = [
  'internal-endpoints.ensureInternalClient',
  'internal-endpoints.insertNoticeEndpoint',
]

/** Rare, or with other bounds each time: none of these has a plan that is kept. */
const NAMELESS = [
  'endpoint-health.saveHealth',
  'events.readPayloadsWithin',
  'late-successes.findRecorded',
  'late-successes.recordLateSuccesses',
  'leases.forgetProcesses',
  'leases.forgetProcesses 2',
  'leases.leaveProcesses',
  'leases.readDatabaseTimeMs',
]

const { statements, withoutTricks, withoutBounds, plannedEachTime, unseen, version } =
  await explainStore()

/** What fails is shown with its SQL and its plans. */
function assertNone(faults: readonly { statement: Explained; text: string }[]): void {
  const told = faults.map(({ statement, text }) => `${statement.name}: ${text}`)
  const shown = new Set(faults.map(({ statement }) => renderWithPlans(statement)))
  assert.equal(told.length, 0, [...told, ...shown].join('\n'))
}

test('every line of the store that sends a statement was called', () => {
  assert.ok(statements.length > 240)
  assert.deepEqual(unseen, [])
})

test('every statement has a name of its own, which psql does not cut', () => {
  const names = statements.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter((name) => name.length > 63),
    [],
  )
})

test('ids, numbers and instants are given in binary form, not as arrays that the driver writes', () => {
  const written = statements.filter(({ values }) =>
    values.some(
      (value) =>
        Array.isArray(value) && value.some((one) => typeof one !== 'string' || isUuid(one)),
    ),
  )
  assert.deepEqual(
    written.map(({ name }) => name),
    [],
  )
})

test('a name that a statement is kept under is of one text, and PostgreSQL does not cut it', () => {
  const kept = Map.groupBy(
    statements.filter(({ preparedAs }) => preparedAs !== null),
    ({ preparedAs }) => preparedAs as string,
  )
  assert.ok(kept.size > 100)
  const names = [...kept].filter(([name, of]) => of.length > 1 || name.length > 63)
  assert.deepEqual(
    names.map(([name]) => name),
    [],
  )
})

test('no statement reads all of a table that grows, or what has piled up in it, unless it is meant', {
  skip: version === VERSION ? false : `this is PostgreSQL ${version}`,
}, () => {
  const { faults, unused } = listReadFaults(statements)
  assertNone(faults)
  assert.deepEqual(unused, [])
  const notRun = statements.filter(({ read }) => read === null).map(({ name }) => name)
  assert.deepEqual(notRun.toSorted(), NOT_RUN)
})

test('a statement that is no longer bounded breaks these rules', {
  skip: version === VERSION ? false : `this is PostgreSQL ${version}`,
}, () => {
  assert.ok(withoutBounds.length > 0)
  const unnoticed = withoutBounds.filter((one) => listReadFaults([one]).faults.length === 0)
  assert.deepEqual(
    unnoticed.map(({ name }) => name),
    [],
  )
})

test('no plan of the hot path reads more than what it was asked for, whatever statistics say', () => {
  const hot = statements.filter(({ isHot }) => isHot)
  assert.ok(hot.length >= 30)
  assertNone(hot.flatMap((statement) => listFaults(statement).map((text) => ({ statement, text }))))
})

test('a statement of the hot path is planned once, for a single row, too', () => {
  assert.deepEqual(plannedEachTime, [])
  const nameless = statements.filter(({ isHot, preparedAs }) => isHot && preparedAs === null)
  assert.deepEqual(nameless.map(({ name }) => name).toSorted(), NAMELESS)
})

test('what statements do for the planner is needed: without it a plan goes wrong', () => {
  assert.ok(withoutTricks.length > 0)
  const useless: string[] = []
  for (const statement of withoutTricks) {
    const name = statement.name.replace(/ without .*/, '')
    const original = statements.find((found) => found.name === name) ?? assert.fail(name)
    const before = new Set(listFaults(original))
    const added = listFaults(statement).filter((fault) => !before.has(fault))
    if (added.length === 0) useless.push(statement.name)
  }
  assert.deepEqual(useless, [])
})
