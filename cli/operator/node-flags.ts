// How Node is started for the service. V8's defaults are made for programs that have the machine to
// themselves: with 50,000 deliveries in memory the service takes some 275 MB with these flags, and 355 to 415
// without. `npm start` and docs/operations.md name the same ones: a test compares them.

export const NODE_FLAGS: readonly string[] = [
  // Each half of the young generation: what a batch of payments needs dies young within it. V8's is 64.
  '--max-semi-space-size=16',
  // The old generation is collected when it has grown by so much; V8 lets it grow to three or four times. At 50 a
  // delivery took a third more of the service's CPU; at 100 there is nothing to gain (bench/HISTORY.md).
  '--heap-growing-percent=150',
]
