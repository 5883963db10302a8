// `SHARED_KEY=… PORT=3000 node receive-fastify.mjs`

import { createReceiver } from '@paybell/sdk'
import { toFastifyPlugin } from '@paybell/sdk/adapters'
import fastify from 'fastify'

const { SHARED_KEY, PORT } = process.env

const receiver = createReceiver({
  sharedKey: SHARED_KEY,
  onPayment: (payment, { event }) => console.log(event, payment.id),
})

const app = fastify()
app.register(toFastifyPlugin(receiver, '/hook'))
console.log(await app.listen({ port: Number(PORT ?? 3000), host: '127.0.0.1' }))
