// A test of your own receiver: what it has to take, and what it has to refuse.
// `SHARED_KEY=… node test-my-receiver.mjs http://localhost:3000/hook`

import { signForTest } from '@paybell/sdk'

const url = process.argv[2]
const sharedKey = process.env.SHARED_KEY

async function post(callback, body) {
  const signed = await signForTest({ sharedKey, ...callback })
  const { status } = await fetch(url, {
    method: 'POST',
    headers: signed.headers,
    body: body ?? signed.body,
  })
  return status
}

const hourAgo = new Date(Date.now() - 3_600_000)
const results = {
  'a signed callback': (await post({ id: 'event-1' })) === 200,
  'the same again': (await post({ id: 'event-1' })) === 200,
  'another key': (await post({ sharedKey: 'not the key' })) !== 200,
  'a changed body': (await post({}, '{"id":"changed"}')) !== 200,
  'an old callback': (await post({ at: hourAgo })) !== 200,
}
for (const [name, isRight] of Object.entries(results)) console.log(isRight ? 'pass' : 'FAIL', name)
process.exitCode = Object.values(results).every(Boolean) ? 0 : 1
