// How often the list and the token can be asked for, against a route that does nothing.

import { measureHello } from '../floors/floors.ts'
import { number } from '../report/text.ts'
import { ClientCalls } from './client-calls.ts'
import type { Scenario } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

export const apiRates: Scenario = {
  name: 'api-rates',
  measure: (options) =>
    withPaybell({ endpoints: options.endpoints }, async (stage, paybell) => {
      const seconds = Math.min(5, options.seconds)
      const calls = await ClientCalls.login(paybell)
      const { clientId, clientSecret, accountIds } = paybell.prepared
      const repeat = async (request: object) => {
        const whole = { url: paybell.baseUrl, concurrent: 64, ...request }
        await stage.repeat({ ...whole, seconds: seconds / 2 })
        return stage.repeat({ ...whole, seconds })
      }
      const helloGet = await measureHello(stage, seconds)
      const list = await repeat({
        method: 'GET',
        path: '/v1/webhooks/list',
        // Lists that are asked for at the same time and are the same one would be read once for all.
        headers: accountIds.map((accountid) => ({
          authorization: `Bearer ${calls.token}`,
          accountid,
        })),
      })
      const token = await repeat({
        method: 'POST',
        path: '/auth/token',
        headers: [{ 'content-type': 'application/json' }],
        body: JSON.stringify({ clientId, clientSecret }),
      })
      const helloAgain = await measureHello(stage, seconds)
      const hello = (helloGet.perSecond + helloAgain.perSecond) / 2
      const row = (
        target: number,
        name: string,
        rate: { perSecond: number; failed: number },
        wanted: number,
      ) => ({
        target,
        name,
        measured: `${number(rate.perSecond)}/s`,
        against: `${number(hello)}/s bare route`,
        ratio: rate.perSecond / hello,
        wanted: `≥ ${wanted}`,
        isMet: rate.failed === 0 && rate.perSecond / hello >= wanted,
        detail: rate.failed === 0 ? '' : `${rate.failed} answers were not 200.`,
        latencies: [],
      })
      return [
        row(6, 'GET /v1/webhooks/list, of different accounts', list, 0.5),
        row(7, 'POST /auth/token', token, 0.2),
      ]
    }),
}
