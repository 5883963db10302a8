// PEM (RFC 7468) as people paste it: blocks with text around them. All of them count: one without its end is a block, too,
// which cannot be read, so that it is refused and not passed over.

export interface PemBlock {
  label: string
  /** The block alone, with its lines. */
  text: string
}

const MARK = /-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----/g

/** In one pass, whatever the text is: strangers choose it. */
export function pemBlocks(text: string): PemBlock[] {
  const marks = [...text.matchAll(MARK)]
  return marks.flatMap((mark, index) => {
    const [, kind, label = ''] = mark
    if (kind === 'END') return []
    const next = marks[index + 1]
    const isWhole = next?.[1] === 'END' && next[2] === label
    const end = next === undefined ? text.length : next.index + (isWhole ? next[0].length : 0)
    return [{ label, text: `${text.slice(mark.index, end)}\n` }]
  })
}
