// Before all test files: one PostgreSQL with a migrated template for all of them. After: stop it.

import { makeTemplate, startTestServer, type TestServer } from './test-server.ts'

let server: TestServer | undefined

export async function globalSetup(): Promise<void> {
  const given = process.env.PAYBELL_TEST_SERVER_URL
  if (given) {
    await makeTemplate(given)
    return
  }
  server = await startTestServer()
  process.env.PAYBELL_TEST_SERVER_URL = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}
