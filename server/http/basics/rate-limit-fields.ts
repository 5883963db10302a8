// RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): how many requests a client may send,
// how many of them are left, and in how many seconds all of them are there again.

import type { FastifyReply } from 'fastify'
import type { RateBuckets } from '../../operations/access/rate-buckets.ts'

/** Call after the request was counted. */
export function setRateLimitFields(reply: FastifyReply, buckets: RateBuckets, key: string): void {
  const { quota, periodSeconds, remaining, fullInSeconds } = buckets.look(key)
  reply.header('ratelimit-policy', `"client";q=${quota};w=${periodSeconds}`)
  reply.header('ratelimit', `"client";r=${remaining};t=${fullInSeconds}`)
}
