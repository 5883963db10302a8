// How far this database is with binding what is sealed for endpoints to the addresses it is sent to, and the steps that lead
// on. Each process learns it at its start and now and then; what it has learnt once it keeps, whatever the row says later.

import { LEASE_POLICY } from '../../core/delivery/lease.ts'
import { type JudgedMark, judgeMark } from '../../core/proofs/sealing-mark.ts'
import type { Db } from '../../store/connection/db.ts'
import type { SealedField, Sealer } from '../../store/secrets/sealing.ts'
import {
  authenticateBeginning,
  beginBinding,
  completeBinding,
  holdBinding,
  readFormAndBound,
  readSealingForm,
  replaceBinding,
  type StoredForm,
} from '../../store/secrets/sealing-form.ts'

const MARK: SealedField = { column: 'sealing.binding', row: 'the only one' }

interface BindingDeps {
  pool: Db
  sealer: Sealer
}

/** What the word in the database is worth; the sealer follows it. */
export async function learnSealing({ pool, sealer }: BindingDeps): Promise<JudgedMark> {
  const found = await judgeStored(pool, sealer)
  const isNew = found.binding === 'begun' && !isAuthentic(sealer, found.stored)
  if (isNew && !(await authenticateBeginning(pool, markOf(sealer, 'begun')))) {
    // Another process was first: its mark is there by now.
    return follow(sealer, await judgeStored(pool, sealer))
  }
  const judged = follow(sealer, found)
  // Nothing has ever been sealed without its address where no endpoint is.
  if (isNew) await finishBinding({ pool, sealer })
  return judged
}

/** A look alone: nothing is changed in the database. */
export function judgeForm(sealer: Sealer, form: StoredForm & { hasBound: boolean }): JudgedMark {
  return judgeMark(
    { binding: form.binding, isAuthentic: isAuthentic(sealer, form) },
    form.hasBound || sealer.binding !== 'none',
  )
}

async function judgeStored(db: Db, sealer: Sealer): Promise<JudgedMark & { stored: StoredForm }> {
  const stored = await readSealingForm(db)
  if (isAuthentic(sealer, stored)) {
    return { ...judgeMark({ ...stored, isAuthentic: true }, true), stored }
  }
  const whole = await readFormAndBound(db)
  return { ...judgeForm(sealer, whole), stored: whole }
}

function follow(sealer: Sealer, { binding, isWrong, stored }: JudgedMark & { stored: StoredForm }) {
  if (stored.isDerived) sealer.writeDerived()
  // One that was begun, where it was done as far as this process knows, was put back.
  const isBack = sealer.binding === 'done' && binding === 'begun'
  sealer.bindAddresses(binding)
  return { binding: sealer.binding, isWrong: isWrong || isBack }
}

/**
 * In the transaction that writes what is sealed for an endpoint: a process that has not heard of it yet writes nothing unbound
 * once binding has begun.
 */
export async function holdSealing(db: Db, sealer: Sealer): Promise<void> {
  if (sealer.binding === 'none')
    sealer.bindAddresses((await holdBinding(db)) === 'none' ? 'none' : 'begun')
}

/** Returns the versions of other processes that live: while there are any, it is not begun. */
export async function startBinding(
  { pool, sealer }: BindingDeps,
  version: string,
): Promise<readonly string[]> {
  const { processGoneAfterMs } = LEASE_POLICY
  const { binding, isWrong } = await learnSealing({ pool, sealer })
  // Another hand has written that it had begun; nothing is bound.
  if (binding === 'none' && isWrong) await replaceBinding(pool, 'none', null)
  const others = await beginBinding(pool, version, processGoneAfterMs, markOf(sealer, 'begun'))
  await learnSealing({ pool, sealer })
  return others
}

/** True when nothing is left that is not bound. */
export async function finishBinding({ pool, sealer }: BindingDeps): Promise<boolean> {
  if (sealer.binding === 'begun' && (await completeBinding(pool, markOf(sealer, 'done')))) {
    sealer.bindAddresses('done')
  }
  return sealer.binding === 'done'
}

/** Puts right what another hand has changed, and authenticates it under the first master key. */
export async function renewMark({ pool, sealer }: BindingDeps): Promise<void> {
  const { binding } = sealer
  if (binding === 'none') return
  const stored = await readSealingForm(pool)
  const isCurrent =
    stored.binding === binding &&
    isAuthentic(sealer, stored) &&
    sealer.isOfWriteKey(stored.authentication as Buffer)
  if (!isCurrent) await replaceBinding(pool, binding, markOf(sealer, binding))
}

function markOf(sealer: Sealer, binding: 'begun' | 'done'): Buffer {
  return sealer.authenticate(binding, MARK)
}

function isAuthentic(sealer: Sealer, { binding, authentication }: StoredForm): boolean {
  return sealer.isAuthentic(authentication, binding, MARK)
}
