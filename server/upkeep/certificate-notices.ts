// The notices that a certificate of the service ends soon. What was told commits with them, so that each is made once,
// whichever process decides.

import { daysToTell } from '../core/certificates/certificate-expiry.ts'
import { DAY_MS } from '../core/delivery/backoff.ts'
import type { NewEvent } from '../core/delivery/fan-out.ts'
import { NIL_UUID } from '../core/plain/uuid.ts'
import type { Deps } from '../operations/shared/deps.ts'
import type { Db } from '../store/connection/db.ts'
import { readCertificateEnds, saveExpiryTold } from '../store/secrets/certificate-ends.ts'
import { countCertificateUses } from '../store/secrets/client-certificates.ts'

const KIND = 'certificate.expiring'

/** Those that are due. While the clock is in doubt none is: an end must not be told too early, and then no more. */
export async function makeCertificateNotices(
  deps: Pick<Deps, 'newId' | 'clock'>,
  db: Db,
  clientKey: number,
  now: Date,
): Promise<readonly NewEvent[]> {
  if (deps.clock.hasJumped) return []
  const due = (await readCertificateEnds(db)).flatMap((end) => {
    const given = { notAfterMs: end.notAfter.getTime(), toldDays: end.toldDays }
    const days = daysToTell(given, now.getTime())
    return days === null ? [] : [{ ...end, days }]
  })
  if (due.length === 0) return []
  const numbers = await saveExpiryTold(db, due)
  const uses = await countCertificateUses(db)
  return due.flatMap((end): NewEvent[] => {
    const sequence = numbers.get(end.id)
    if (sequence === undefined) return []
    const certificate = {
      id: end.id,
      name: end.name,
      subject: end.subject,
      fingerprintSha256: end.fingerprint.toString('hex'),
      notAfter: end.notAfter.toISOString(),
      usedBy: uses.get(end.id) ?? 0,
    }
    const daysLeft = Math.max(0, Math.ceil((end.notAfter.getTime() - now.getTime()) / DAY_MS))
    return [
      {
        clientKey,
        id: deps.newId(),
        // The certificate stands in for a payment, so that its notices arrive in order.
        paymentId: end.id,
        accountId: NIL_UUID,
        sequence,
        kind: KIND,
        // `at` comes last, as in every notice (core/delivery/notice).
        text: JSON.stringify({ type: KIND, certificate, daysLeft, at: now.toISOString() }),
        documentHash: null,
        documentBytes: null,
      },
    ]
  })
}
