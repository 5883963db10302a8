// How large a test is: small with every landing, at full size in `npm run test:release`. A file with both
// sizes has a neighbour `….release.test.ts`, which imports full-size.ts and then the file itself.

const FULL = 'PAYBELL_TEST_FULL_SIZE'

export function chooseFullSize(): void {
  process.env[FULL] = '1'
}

export function sized<T>(usual: T, full: T): T {
  return process.env[FULL] === '1' ? full : usual
}
