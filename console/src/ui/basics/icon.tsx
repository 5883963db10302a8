// The console's own icons: 24 by 24, drawn with lines in the colour of the text. Beside words they say nothing
// of their own, so they are hidden from screen readers.

const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM14 4v3h6V4zM4 20h6v-3H4z',
  deliveries: 'M4 12 20 4l-5 16-4-6zM11 14l9-10',
  payments: 'M3 6h18v12H3zM3 10h18M7 15h4',
  endpoints: 'M9 7H7a5 5 0 0 0 0 10h2M15 7h2a5 5 0 0 1 0 10h-2M8 12h8',
  clients: 'M4 20V6l8-3 8 3v14M9 20v-5h6v5M8 9h2M14 9h2M8 12h2M14 12h2',
  jobs: 'M4 6h11M4 12h11M4 18h11M19 6h1M19 12h1M19 18h1',
  keys: 'M14 10a4 4 0 1 0-4 4 4 4 0 0 0 4-4zM13 12l8 8M17 16l2-2M19 18l2-2',
  certificates:
    'M8 15H3V4h18v11h-5M7 8h10M12 11a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 16.5V22l2-1.5 2 1.5v-5.5',
  audit: 'M6 3h9l4 4v14H6zM14 3v5h5M9 13l2 2 4-4',
  playground: 'M10 3h4M11 3v6l-6 10a1 1 0 0 0 1 2h12a1 1 0 0 0 1-2l-6-10V3M8 15h8',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  check: 'M5 13l4 4L19 7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      width={18}
      height={18}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
