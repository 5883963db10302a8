// What siblings say to each other, as lines of JSON. A rolling restart may bring two versions together: one that does not
// know the form of the other takes nothing from it, and all goes by way of the database.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'

/** To be raised with every change of what is said. */
const FORM = 1

/** "From now on I notice what moves; hand me what you accept for these shards, under this ticket." */
export interface Invitation {
  ticket: number
  shards: readonly number[]
}

/** What was accepted after the invitation had arrived, and is committed. */
export interface HandOver {
  ticket: number
  deliveries: readonly HandedOff[]
}

export type SiblingMessage = { invitation: Invitation } | { handOver: HandOver }

type Fields = [
  ...[clientKey: number, id: string, eventId: string, endpointId: string, paymentId: string],
  ...[sequence: number, kind: string, shard: number, nextAttemptAtMs: number],
  ...[deadlineAtMs: number | null, documentMode: HandedOff['documentMode'], hasElders: boolean],
]

interface Written {
  form: number
  ticket: number
  shards?: readonly number[]
  deliveries?: readonly Fields[]
  /** Bodies by event: the deliveries of one share it. */
  texts?: Readonly<Record<string, string>>
}

/** Never tried, and without a history that the other would have to be told. */
export function isFresh(delivery: HandedOff): boolean {
  const { isReplay, attempts, runAttempts, firstAttemptAtMs, nextAttemptAtMs } = delivery
  const isUntried = attempts === 0 && runAttempts === 0 && firstAttemptAtMs === null
  return !isReplay && isUntried && Number.isFinite(nextAttemptAtMs)
}

export function writeInvitation({ ticket, shards }: Invitation): string {
  return JSON.stringify({ form: FORM, ticket, shards } satisfies Written)
}

/** Of fresh ones. A body with a file is read by the other, as the file is. */
export function writeHandOver({ ticket, deliveries }: HandOver): string {
  const texts: Record<string, string> = {}
  for (const { eventId, payload } of deliveries) {
    if (payload !== null && payload.documentHash === null) texts[eventId] = payload.text
  }
  const written: Written = { form: FORM, ticket, deliveries: deliveries.map(toFields), texts }
  return JSON.stringify(written)
}

/** Null for what is written in another form. */
export function readSiblingMessage(line: string): SiblingMessage | null {
  const { form, ticket, shards, deliveries = [], texts = {} } = JSON.parse(line) as Written
  if (form !== FORM) return null
  if (shards !== undefined) return { invitation: { ticket, shards } }
  return { handOver: { ticket, deliveries: deliveries.map((fields) => toDelivery(fields, texts)) } }
}

function toFields(delivery: HandedOff): Fields {
  return [
    delivery.clientKey,
    delivery.id,
    delivery.eventId,
    delivery.endpointId,
    delivery.paymentId,
    delivery.sequence,
    delivery.kind,
    delivery.shard,
    delivery.nextAttemptAtMs,
    delivery.deadlineAtMs,
    delivery.documentMode,
    delivery.hasElders,
  ]
}

function toDelivery(fields: Fields, texts: Readonly<Record<string, string>>): HandedOff {
  const [clientKey, id, eventId, endpointId, paymentId, sequence, kind, shard, ...rest] = fields
  const [nextAttemptAtMs, deadlineAtMs, documentMode, hasElders] = rest
  const text = texts[eventId]
  return {
    clientKey,
    id,
    eventId,
    endpointId,
    paymentId,
    sequence,
    kind,
    shard,
    nextAttemptAtMs,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs,
    isReplay: false,
    documentMode,
    hasElders,
    payload: text === undefined ? null : { text, documentHash: null, documentBytes: null },
  }
}
