// How one payment is sent to a system: Paybell's own interface, which the queues imitate, and those of the real
// peers. All carry the same document; the account says to which endpoint it goes.

import type { PaymentMaker } from './payments.ts'

export type Dialect = 'paybell' | 'svix' | 'outpost'

export interface Request {
  method: 'PUT' | 'POST'
  path: string
  headers: string
  body: string
}

type Write = (maker: PaymentMaker, number: number, account: string) => Request

const JSON_TYPE = 'content-type: application/json\r\n'

function post(path: string, body: string): Request {
  return { method: 'POST', path, headers: JSON_TYPE, body }
}

export const DIALECTS: Readonly<Record<Dialect, Write>> = {
  paybell: (maker, number, account) => ({
    method: 'PUT',
    path: `/operator/v1/payments/${maker.id(number)}`,
    headers: `accountid: ${account}\r\n${JSON_TYPE}`,
    body: maker.body(number),
  }),
  svix: (maker, number, account) =>
    post(
      `/api/v1/app/${account}/msg/`,
      `{"eventType":"payment","eventId":"${maker.id(number)}","payload":${maker.callback(number)}}`,
    ),
  outpost: (maker, number, account) =>
    post(
      '/api/v1/publish',
      `{"id":"${maker.id(number)}","tenant_id":"${account}","topic":"payment","data":${maker.callback(number)}}`,
    ),
}
