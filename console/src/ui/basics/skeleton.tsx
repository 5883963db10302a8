// Grey lines where something is about to be: the page keeps its shape while it is read. Screen readers get the
// word instead.

const WIDTHS = ['92%', '74%', '85%', '61%', '79%']

export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div className="loading skeleton" role="status">
      <span className="visually-hidden">Loading…</span>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <i key={index} style={{ width: WIDTHS[index % WIDTHS.length] }} />
      ))}
    </div>
  )
}
