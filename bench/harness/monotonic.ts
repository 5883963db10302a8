// The one clock of the benchmark. hrtime is CLOCK_MONOTONIC, which all processes of a machine share:
// a moment taken in the generator can be compared with one taken in the receiver.

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
