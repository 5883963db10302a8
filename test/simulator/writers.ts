// The source that writes payments, and companies whose own transactions hold a payment for a while. A
// writer notes each answer; what was answered must be there for good.

import type { PaymentWrite } from '../../server/core/payments/payment.ts'
import type {
  PaymentChange,
  RecordedPayment,
} from '../../server/operations/accepting/record-payments.ts'
import type { Ask, Asking } from './asking.ts'
import { REFUSED_TEXT } from './node-payments.ts'
import type { AcceptingPlan, LockPlan, WritePlan } from './plan-accepting.ts'
import type { AcknowledgedWrite } from './records.ts'
import type { Scheduler } from './scheduler.ts'
import type { Subject } from './subject.ts'
import type { Twin } from './twin.ts'

export interface WritersWorld {
  plan: AcceptingPlan & { accounts: number }
  subject: Subject
  scheduler: Scheduler
  twin: Twin
}

export class Writers {
  readonly writes: AcknowledgedWrite[] = []
  readonly wronglyRefused: { paymentId: string; reason: string }[] = []
  readonly #world: WritersWorld
  readonly #asking: Asking

  constructor(world: WritersWorld, asking: Asking) {
    this.#world = world
    this.#asking = asking
  }

  begin(): void {
    const { plan, scheduler } = this.#world
    for (const write of plan.writes) {
      for (let copy = 0; copy < write.copies; copy++) {
        this.#asking.later(write.afterMs, 'a write', (ask) => this.#write(ask, write))
      }
    }
    for (const lock of plan.locks) {
      scheduler.after(lock.afterMs, 'a company locks a payment', () => this.#hold(lock))
    }
  }

  #write(ask: Ask, plan: WritePlan): void {
    const { scheduler } = this.#world
    const askedAtMs = scheduler.nowMs
    const change = this.#changeOf(plan)
    let answer: RecordedPayment | null = null
    ask.repeat(
      async (node) => {
        answer = null
        try {
          answer = await node.submit(change)
        } catch (error) {
          if (this.#mayBeTriedAgain(error)) throw error
          if (plan.content === 'refused') return
          this.wronglyRefused.push({ paymentId: change.write.id, reason: String(error) })
        }
      },
      () => {
        if (answer === null) return
        const { outcome, event, text } = answer as RecordedPayment
        this.writes.push({
          paymentId: change.write.id,
          accountId: change.accountId,
          version: plan.version,
          outcome,
          event: event && { id: event.id, sequence: event.sequence, text },
          askedAtMs,
          acknowledgedAtMs: scheduler.nowMs,
        })
      },
    )
  }

  /** As http/problems answers them: 503 means "come back", all else is an answer. */
  #mayBeTriedAgain(error: unknown): boolean {
    if (!(error instanceof this.#world.subject.ServiceError)) return false
    return error.code === 'overloaded' || error.code === 'database-away'
  }

  /** As the SQL function record_payment does in a company's transaction, which is then rolled back. */
  #hold({ payment, lengthMs }: LockPlan): void {
    const { twin, scheduler } = this.#world
    const session = twin.payments.begin()
    session.tryLock([paymentId(payment)])
    scheduler.after(lengthMs, 'a company rolls back', () => session.end())
  }

  #changeOf({ payment, version, content }: WritePlan): PaymentChange {
    const account = payment % this.#world.plan.accounts
    return {
      accountId: `account-${account}`,
      write: {
        id: paymentId(payment),
        externalId: 'x',
        quoteId: 'q',
        amount: { amount: '1', currency: 'EUR' },
        reference: content === 'refused' ? REFUSED_TEXT : `content ${content}`,
        purposeOfPayment: 'OTHER',
        beneficiaryId: 'b',
        documentReference: null,
        document: null,
        status: this.#world.plan.hasKinds ? toStatus(content) : null,
        createdAt: '2026-01-01T00:00:00Z',
        completedAt: null,
        version,
      },
    }
  }
}

/** The only two states between which a payment may go to and fro. */
function toStatus(content: WritePlan['content']): PaymentWrite['status'] {
  const isPending = typeof content === 'number' && content % 2 === 1
  return { state: isPending ? 'PENDING_APPROVAL' : 'DRAFT', reason: null }
}

function paymentId(number: number): string {
  return `payment-${number}`
}
