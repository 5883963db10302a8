// `node bench/registered.ts [endpoints]`: a million endpoints that are registered and say nothing. How long the service
// takes to start over them, what memory it has then, and how long each list takes that a person or a program asks for:
// the first call, which may have to count, and the least and the median of some.

import { setTimeout as delay } from 'node:timers/promises'
import { rssMegabytes } from './harness/cpu.ts'
import type { BenchDatabase } from './harness/database.ts'
import { lowerHalf } from './harness/statistics.ts'
import { type RunningPaybell, startPaybell } from './paybell/system.ts'
import { ClientCalls } from './scenarios/client-calls.ts'

const CALLS = 9
const PAGE_SIZE = 50

const endpoints = Number(process.argv[2] ?? 1_000_000)
const preparedAtMs = performance.now()
let startedAtMs = 0
const paybell = await startPaybell({
  receiverUrl: 'http://127.0.0.1:9',
  endpoints,
  beforeStart: async (database) => {
    await addHealth(database)
    await database.checkpoint()
    startedAtMs = performance.now()
  },
})
try {
  const [service] = paybell.services
  console.log(`${endpoints} endpoints, made in ${seconds(startedAtMs - preparedAtMs)}`)
  console.log(`ready after ${seconds(service?.startedInMs ?? 0)}`)
  await delay(10_000)
  console.log(`RSS ${rssMegabytes(service?.pid ?? 0).toFixed(0)} MB, ten seconds later`)
  await measureLists(paybell)
  console.log(`RSS ${rssMegabytes(service?.pid ?? 0).toFixed(0)} MB after the lists`)
} finally {
  await paybell.stop()
}

/** Each has been sent something, and one of a thousand fails. */
async function addHealth(database: BenchDatabase): Promise<void> {
  await database.query(
    `insert into paybell.endpoint_health (client_key, endpoint_id, last_success_at, failing_since,
       last_failure_at, last_error, circuit)
     select client_key, id, now(), case when fails then now() end, case when fails then now() end,
       case when fails then 'answered 500' end, 'CLOSED'
     from (select client_key, id, row_number() over (order by id) % 1000 = 0 as fails
           from paybell.endpoints) as e`,
  )
  await database.query(
    'vacuum analyze paybell.endpoint_health, paybell.endpoints, paybell.accounts',
  )
}

async function measureLists({ baseUrl, operatorKey, prepared }: RunningPaybell): Promise<void> {
  const { token } = await ClientCalls.login(paybell)
  const asClient = { authorization: `Bearer ${token}` }
  const asOperator = { authorization: `Bearer ${operatorKey}` }
  const [accountId = ''] = prepared.accountIds
  const pages = [0, Math.floor(endpoints / PAGE_SIZE / 2), Math.ceil(endpoints / PAGE_SIZE) - 1]
  const ofOperator = [
    ...pages.map((page) => `endpoints?size=${PAGE_SIZE}&page=${page}`),
    // As the console asks: its orders, its filters, its search.
    ...[
      ...['sort=-createdAt', 'sort=endpointUrl', 'sort=-endpointUrl', 'sort=failingSince'],
      'failing=true',
      ...['failing=false', 'status=ACTIVE', 'status=DISABLED', 'kind=webhook', 'q=4711'],
      ...[`clientId=${prepared.clientId}`, `accountId=${accountId}`, 'q=127.0.0.1'],
    ].map((filter) => `endpoints?size=${PAGE_SIZE}&${filter}`),
    ...pages.map((page) => `clients/${prepared.clientId}/accounts?size=${PAGE_SIZE}&page=${page}`),
    ...['search?q=4711', 'stats'],
  ]
  for (const path of ofOperator) await time(baseUrl, `/operator/v1/${path}`, asOperator)
  await time(baseUrl, '/metrics', asOperator)
  await time(baseUrl, '/v1/webhooks/list', { ...asClient, accountid: accountId })
  await time(baseUrl, '/api/v1/payments/subscriptions', asClient)
  await time(baseUrl, '/v1/stats', asClient)
}

async function time(baseUrl: string, path: string, headers: Record<string, string>) {
  const { ms, status } = await callOften(baseUrl + path, headers)
  const [least, , median] = lowerHalf(ms)
  const figures = [ms[0] ?? 0, least, median].map((each) => each.toFixed(1).padStart(9)).join(' ')
  console.log(`${figures} ms  ${status}  ${path}`)
}

async function callOften(url: string, headers: Record<string, string>) {
  const ms: number[] = []
  let status = 0
  for (let call = 0; call < CALLS; call++) {
    const calledAtMs = performance.now()
    const response = await fetch(url, { headers })
    await response.arrayBuffer()
    ms.push(performance.now() - calledAtMs)
    status = response.status
    // What takes seconds is known by then.
    if (call === 2 && Math.min(...ms) > 1_000) break
  }
  return { ms, status }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
