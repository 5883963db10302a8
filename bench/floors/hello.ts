// A bare Fastify route: what an API rate is compared with.

import Fastify from 'fastify'
import { answerCalls } from '../harness/answer-calls.ts'

const app = Fastify()
app.get('/hello', async () => ({ hello: 'world' }))
app.post('/hello', async () => ({ hello: 'world' }))

answerCalls({ listen: () => app.listen({ host: '127.0.0.1', port: 0 }) })
