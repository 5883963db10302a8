// F2: segments of the audit are sealed while the database's clock is days ahead, and after it went back. Rows of both
// times are in one round. Before, those of the right clock were left out, and the log counted as forged for ever.

import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'

const AHEAD_MS = 3 * 86_400_000
/** Rounds come once a minute. */
const SEALED_MS_MAX = 150_000

export const sealClockAhead: Scenario = {
  name: 'seal-clock-ahead',
  claim: 'an audit that was sealed by a clock 3 days ahead verifies after it went back',
  needs: ['libfaketime'],
  async perform(stage) {
    const served = await stage.serve()
    const audit = async (count: number) => {
      for (let n = 0; n < count; n++) await stage.put(served)
    }
    const newest = async () => {
      const [row] = await stage.query<{ segment: number | null }>(
        'select max(segment)::int as segment from paybell.audit_segments',
      )
      return row?.segment ?? 0
    }
    const sealed = async (when: string) => {
      const before = await newest()
      const isSealed = async () => (await newest()) > before
      await until(`a segment ${when}`, isSealed, SEALED_MS_MAX)
      stage.note(`segment ${await newest()} was sealed ${when}`)
    }
    await audit(3)
    await sealed('by the right clock')
    await stage.jumpTo(AHEAD_MS, served)
    await audit(3)
    await sealed('while the clock was ahead')
    await audit(3)
    await stage.jumpTo(0, served)
    await audit(3)
    await sealed('after the clock went back, with rows of both times')
    await audit(3)
    await sealed('after that')
    const { code, printed } = await stage.run('audit', 'verify', '--database')
    stage.note(printed.trim())
    assert.equal(code, 0, printed)
  },
}
