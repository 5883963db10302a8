#!/usr/bin/env node
// The command `paybell`, in JavaScript that any Node reads: one that is too old for the rest says so in a
// sentence, instead of failing at the first line of TypeScript.

const [major, minor] = process.versions.node.split('.').map(Number)

if (major >= 24) {
  await import('./main.ts')
} else {
  console.error(
    `paybell: Paybell needs Node 24 or later, and this is Node ${major}.${minor}. ` +
      'Run npm ci and start it with npm start or npx paybell, which use the Node that npm ci installs.',
  )
  process.exitCode = 1
}
