// The picture at the top of RESULTS.md: deliveries a second of each durable system, and what one costs in processor
// time, side by side. One SVG, written by hand, that needs nothing else and is readable on a light and a dark page.

import type { Row } from './summary.ts'
import { fixed, svg, text } from './svg.ts'
import { number } from './text.ts'

const NAME_WIDTH = 190
const PANEL_WIDTH = 250
const PANEL_GAP = 75
const BAR_HEIGHT = 13
const SYSTEM_HEIGHT = 44
const TOP = 92

const FEEDS = ['batch', 'put'] as const

interface Panel {
  title: string
  note: string
  left: number
  valueOf(row: Row): number
  digits: number
}

const PANELS: readonly Panel[] = [
  {
    title: 'Deliveries per second',
    note: 'more is better; the line: POST alone',
    left: NAME_WIDTH,
    valueOf: (row) => row.perSecond.median,
    digits: 0,
  },
  {
    title: 'Processor time of one, in ms',
    note: 'less is better; service and store',
    left: NAME_WIDTH + PANEL_WIDTH + PANEL_GAP,
    valueOf: (row) => row.cpu.system,
    digits: 3,
  },
]

/** Null when no durable system was measured. */
export function overviewPlot(rows: readonly Row[]): string | null {
  const durable = rows.filter(
    (row) => row.feed !== null && row.durability === 'fsync before 2xx' && row.perSecond.slices > 0,
  )
  // Variants of Paybell are in the table: here each system has one place.
  const names = [...new Set(durable.map(({ name }) => name))].filter(
    (name) => name === 'Paybell' || !name.startsWith('Paybell'),
  )
  if (names.length === 0) return null
  const shown = durable.filter(({ name }) => names.includes(name))
  const floor = rows.find((row) => row.feed === null && row.perSecond.slices > 0)
  const height = TOP + names.length * SYSTEM_HEIGHT + 14
  const labels = names.map((name, index) => {
    const y = TOP + index * SYSTEM_HEIGHT + BAR_HEIGHT + 5
    const weight = name === 'Paybell' ? ' class="strong"' : ''
    return text(NAME_WIDTH - 12, y, name, `text-anchor="end"${weight}`)
  })
  return svg('Durable deliveries per second and processor time per delivery, by system', height, [
    text(
      10,
      24,
      'Durable, signed deliveries: Paybell and queues that do the same job',
      'class="title"',
    ),
    `<rect class="peer" x="10" y="38" width="14" height="10" rx="2"/>`,
    text(30, 47, 'fed in batches', 'class="quiet"'),
    `<rect class="peer light" x="130" y="38" width="14" height="10" rx="2"/>`,
    text(150, 47, 'by single requests', 'class="quiet"'),
    ...labels,
    ...PANELS.flatMap((panel) => drawPanel(panel, names, shown, floor, height)),
  ])
}

function drawPanel(
  panel: Panel,
  names: readonly string[],
  rows: readonly Row[],
  floor: Row | undefined,
  height: number,
): readonly string[] {
  const isRate = panel === PANELS[0]
  const values = rows.map((row) => panel.valueOf(row))
  const most = Math.max(...values, isRate ? (floor?.perSecond.median ?? 0) : 0)
  const x = (value: number) => panel.left + (value / most) * PANEL_WIDTH
  const bars = rows.map((row) => {
    const place = FEEDS.indexOf(row.feed as (typeof FEEDS)[number])
    const y = TOP + names.indexOf(row.name) * SYSTEM_HEIGHT + place * (BAR_HEIGHT + 3)
    const kind = `${row.name === 'Paybell' ? 'ours' : 'peer'}${row.feed === 'put' ? ' light' : ''}`
    const value = panel.valueOf(row)
    return [
      `<rect class="${kind}" x="${panel.left}" y="${y}" width="${fixed(x(value) - panel.left)}" height="${BAR_HEIGHT}" rx="2"/>`,
      text(x(value) + 6, y + 11, number(value, panel.digits), 'class="quiet"'),
    ].join('\n')
  })
  const line =
    isRate && floor !== undefined
      ? [
          `<path class="line floor" d="M${fixed(x(floor.perSecond.median))} ${TOP - 8}V${height - 14}"/>`,
          text(
            x(floor.perSecond.median),
            height - 2,
            number(floor.perSecond.median),
            'class="quiet" text-anchor="middle"',
          ),
        ]
      : []
  return [
    text(panel.left, 64, panel.title, 'class="strong"'),
    text(panel.left, 79, panel.note, 'class="quiet"'),
    ...line,
    ...bars,
  ]
}
